// Package money holds amounts of the expense example as whole minor units, never as floating point. An amount enters
// and leaves as a decimal string with two digits ("3200.00"). It imports the standard library only.
package money

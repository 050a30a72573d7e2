package flow

import (
	"fmt"
	"slices"
	"strings"
)

// factNames lists every fact that the flow can have, sorted.
func factNames(f *Flow) []string {
	var names []string
	for _, e := range f.def.Entities {
		names = append(names, e.Name)
	}
	for _, m := range f.def.Materials {
		for _, field := range m.Manual {
			names = append(names, field.Name)
		}
	}
	for _, s := range f.def.Steps {
		for _, e := range s.Facts {
			names = append(names, e.Name)
		}
	}
	for _, e := range f.def.Derive {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func materialNames(f *Flow) []string {
	names := make([]string, len(f.def.Materials))
	for i, m := range f.def.Materials {
		names[i] = m.Name
	}
	return names
}

func stepIDs(f *Flow) []string {
	ids := make([]string, len(f.def.Steps))
	for i, s := range f.def.Steps {
		ids[i] = s.ID
	}
	return ids
}

func (r *reader) fact(path, name string) { r.name(path, "fact", name, r.known) }

// name records a name that means nothing, with the one that was probably meant. An empty one is the schema's matter.
func (r *reader) name(path, what, name string, known []string) {
	if name != "" && !slices.Contains(known, name) {
		r.add(path, fmt.Sprintf("there is no %s %q", what, name), suggestion(name, known))
	}
}

func (r *reader) unique(path, what, name string, seen map[string]bool) {
	if seen[name] && name != "" {
		r.add(path, fmt.Sprintf("%s %q is defined twice", what, name), "give it another name")
	}
	seen[name] = true
}

// complete checks that a text that is there has every locale of the flow and no other.
func (r *reader) complete(path string, text Text, locales []string) {
	for _, locale := range locales {
		if strings.TrimSpace(text[locale]) == "" {
			r.missingLocale(path, locale)
		}
	}
	for locale := range text {
		r.surplusLocale(path, locale, locales)
	}
}

func (r *reader) completeWords(path string, words Words, locales []string) {
	for _, locale := range locales {
		if len(words[locale]) == 0 {
			r.missingLocale(path, locale)
		}
	}
	for locale := range words {
		r.surplusLocale(path, locale, locales)
	}
}

func (r *reader) missingLocale(path, locale string) {
	r.add(path, "the text for locale "+locale+" is missing", "add "+locale+": …")
}

// surplusLocale says nothing while the flow's own locales are not known.
func (r *reader) surplusLocale(path, locale string, locales []string) {
	if len(locales) > 0 && !slices.Contains(locales, locale) {
		r.add(path+"."+locale, "the flow's title has no locale "+locale, "add it to title, or remove it here")
	}
}

package trip

import (
	_ "embed" // The trips of the example.
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
)

//go:embed trips.yaml
var defaultTrips []byte

// anyone stands for every user in a trip.
const anyone = "*"

// Trip is one approved trip.
type Trip struct {
	ID   string `yaml:"id"`
	User string `yaml:"user"` // "*" is every user.
	City struct {
		Chinese string `yaml:"zh"`
		English string `yaml:"en"`
	} `yaml:"city"`
	Start string `yaml:"start"` // ISO; both days belong to the trip.
	End   string `yaml:"end"`

	from, to time.Time
}

// Trips are the approved trips. They are read-only.
type Trips []Trip

// ParseTrips reads trips; empty data means those of the example. Errors have CodeInvalidConfig.
func ParseTrips(data []byte) (Trips, error) {
	if len(data) == 0 {
		data = defaultTrips
	}
	var file struct {
		Trips Trips `yaml:"trips"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse trips: %w", err)
	}
	seen := map[string]bool{}
	for i := range file.Trips {
		t := &file.Trips[i]
		var err error
		if t.from, t.to, err = days(t.Start, t.End); err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig, "parse trips: trip %q: %w", t.ID, err)
		}
		if t.ID == "" || seen[t.ID] || t.User == "" || t.City.Chinese == "" {
			return nil, conversation.Errorf(conversation.CodeInvalidConfig,
				"parse trips: trip %q needs an id of its own, a user and a city", t.ID)
		}
		seen[t.ID] = true
	}
	return file.Trips, nil
}

// days parses the first and last day of a range, both inclusive.
func days(start, end string) (time.Time, time.Time, error) {
	from, err := time.Parse(time.DateOnly, start)
	if err != nil {
		return from, from, conversation.Errorf(conversation.CodeInvalidArgument,
			"day %q is not of the form %q", start, "2024-05-12")
	}
	to, err := time.Parse(time.DateOnly, end)
	if err != nil {
		return from, to, conversation.Errorf(conversation.CodeInvalidArgument,
			"day %q is not of the form %q", end, "2024-05-15")
	}
	if to.Before(from) {
		return from, to, conversation.Errorf(conversation.CodeInvalidArgument, "day %q is before %q", end, start)
	}
	return from, to, nil
}

// find returns the id of the user's trip to the city that shares most days with the range. An empty city is any city.
func (trips Trips) find(user, city string, from, to time.Time) (string, bool) {
	best, most, own := "", time.Duration(0), false
	for _, t := range trips {
		if t.User != user && t.User != anyone || !t.goesTo(city) {
			continue
		}
		first, last := latest(t.from, from), earliest(t.to, to)
		shared := last.Sub(first) + 24*time.Hour // Both ends are days.
		if shared <= 0 || own && t.User == anyone || own == (t.User == user) && shared <= most {
			continue
		}
		best, most, own = t.ID, shared, t.User == user
		if !own {
			best += "-" + user
		}
	}
	return best, best != ""
}

// goesTo compares the city in either language, with or without 市.
func (t Trip) goesTo(city string) bool {
	city = strings.TrimSuffix(strings.TrimSpace(city), "市")
	return city == "" || city == t.City.Chinese || strings.EqualFold(city, t.City.English)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

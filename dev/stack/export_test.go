package stack

import (
	"errors"
	"sync/atomic"

	"go.temporal.io/server/common/primitives"
)

// FreePort is freePort, for tests that give ports.
var FreePort = freePort

// MakeTemporalOn makes a Temporal server whose services all have the given port, without checking it first, as if it
// had been taken at the last moment. It reports whether the server's fatal message was turned into an error.
func MakeTemporalOn(number int) (fatal bool, err error) {
	s := &Stack{options: Options{LogLevel: "error"}}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.openData(); err != nil {
		return false, err
	}
	making := new(atomic.Bool)
	log, err := s.openLog(temporalLog, fatalHook{making})
	if err != nil {
		return false, err
	}
	database, err := s.openDatabase()
	if err != nil {
		return false, err
	}
	ports := map[primitives.ServiceName]int{}
	for _, service := range []primitives.ServiceName{
		primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
	} {
		ports[service] = number
	}
	_, err = makeTemporal(serverConfig(database, ports), log, making)
	return errors.As(err, new(fatalError)), nil
}

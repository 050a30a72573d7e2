package stack

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/config"
	serverlog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	schema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// retention is how long a closed conversation can be looked at.
const retention = 30 * 24 * time.Hour

// SearchAttributes are the search attributes of conversations (DESIGN 3); all are of type Keyword.
func SearchAttributes() []string {
	return []string{
		conversation.AttributeState, conversation.AttributeFlow, conversation.AttributeUser,
		conversation.AttributeTrace, conversation.AttributePath,
	}
}

// openDatabase makes Temporal's SQLite file with schema and namespace, or opens the one that is there.
func (s *Stack) openDatabase() (*config.SQL, error) {
	path := filepath.Join(s.dir, temporalFile)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = createDatabase(path)
	}
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeUnavailable, "open Temporal's database %q: %w", path, err)
	}
	// The process may be killed at any time without loss: with a write-ahead log that holds for NORMAL as well, which
	// syncs at checkpoints. Only a power failure can lose the last moments.
	synchronous := "normal"
	if s.temporary {
		synchronous = "off"
	}
	database := sqlConfig(path, map[string]string{"journal_mode": "wal", "synchronous": synchronous})
	s.onClose("close Temporal's database", func() error { return closeDatabase(database) })
	return database, nil
}

// createDatabase writes a whole database under another name first, so that a start that was interrupted leaves none.
func createDatabase(path string) error {
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	database := sqlConfig(unfinished, map[string]string{"journal_mode": "off", "synchronous": "off"})
	if err := fillDatabase(database); err != nil {
		return errors.Join(err, closeDatabase(database))
	}
	if err := closeDatabase(database); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

func fillDatabase(database *config.SQL) error {
	if err := schema.SetupSchema(database); err != nil {
		return err
	}
	attributes := map[string]enums.IndexedValueType{}
	for _, name := range SearchAttributes() {
		attributes[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	namespace, err := schema.NewNamespaceConfig(clusterName, Namespace, false, attributes)
	if err != nil {
		return err
	}
	namespace.Detail.Config.Retention = durationpb.New(retention)
	return schema.CreateNamespaces(database, namespace)
}

// sqlConfig describes an SQLite file to the server.
func sqlConfig(path string, pragmas map[string]string) *config.SQL {
	attributes := map[string]string{
		"mode": "rwc",
		// The server shares connections within a process by these attributes and never closes one. A pragma that SQLite
		// does not know is ignored; it makes the connections of each start their own, so that closeDatabase can close them.
		"hermes_start": strconv.FormatUint(uint64(rand.Uint32()), 10),
	}
	maps.Copy(attributes, pragmas)
	return &config.SQL{
		PluginName:        sqlite.PluginName,
		DatabaseName:      (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(),
		ConnectAttributes: attributes,
	}
}

// closeDatabase closes what the server leaves open. Its SQLite plugin counts references, but has the closing commented
// out and no way to ask for it, so the shared handle is taken out of the plugin's struct. A server in which that field
// is gone or another has nothing to close here; the test for open files would tell.
func closeDatabase(database *config.SQL) error {
	handle, err := sql.NewSQLDB(sqlplugin.DbKindMain, database,
		resolver.NewNoopResolver(), serverlog.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	value := reflect.Indirect(reflect.ValueOf(handle))
	if value.Kind() != reflect.Struct {
		return nil
	}
	field := value.FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sqlx.DB]() || field.IsNil() {
		return nil
	}
	return (*sqlx.DB)(field.UnsafePointer()).Close()
}

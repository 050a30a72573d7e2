package ocr

import ("testing";"os";"context";"encoding/json";"fmt";"time";"path/filepath")

func TestScratch(t *testing.T) {
	r, err := NewReader(Config{})
	if err != nil { t.Fatal(err) }
	files := os.Getenv("F")
	m, _ := filepath.Glob(files)
	for _, f := range m {
		data, _ := os.ReadFile(f)
		start := time.Now()
		got, err := r.Read(context.Background(), []Document{{Name: filepath.Base(f), Data: data}})
		out, _ := json.Marshal(got)
		fmt.Println(time.Since(start), err, got.Regions, got.Confirmed, got.InWords, got.Reread)
		fmt.Println(string(out))
	}
}

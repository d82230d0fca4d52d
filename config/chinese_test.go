package config

import "testing"

func TestEverySettingIsDescribedInChinese(t *testing.T) {
	left := make(map[string]bool, len(chinese))
	for key := range chinese {
		left[key] = true
	}
	for _, s := range Settings() {
		if s.DocZH() == "" {
			t.Errorf("setting %s has no Chinese description: add it to chinese.go", s.Key)
		}
		delete(left, s.Key)
	}
	for key := range left {
		t.Errorf("chinese.go describes %s, which is no setting", key)
	}
}

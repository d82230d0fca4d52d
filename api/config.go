package api

// ConfigItem is one setting.
type ConfigItem struct {
	Key     string `json:"key" example:"scanNotActiveBrokerInterval"`
	Value   string `json:"value" example:"5000"`
	Default string `json:"default" example:"5000"`
	// Source is where the value comes from: default, file, env, flag or runtime.
	Source string `json:"source" enums:"default,file,env,flag,runtime" example:"default"`
	// Type is bool, int, duration, size, string, list, level or words.
	Type string `json:"type" example:"int"`
	// Range says which values are allowed.
	Range string `json:"range,omitempty" example:"100 to 600000"`
	// Mutable tells whether PATCH takes the key, RestartRequired whether a changed
	// value has to wait for the next start.
	Mutable         bool `json:"mutable"`
	RestartRequired bool `json:"restartRequired"`
	// Secret values are shown as ***.
	Secret bool `json:"secret,omitempty"`
	// Doc says what it means in English, DocZH in Chinese.
	Doc   string `json:"doc" example:"milliseconds between two searches for brokers whose time is over"`
	DocZH string `json:"docZh,omitempty" example:"两次查找超时 Broker 之间的毫秒数"`
}

// Config is every setting.
type Config struct {
	Revision string       `json:"revision" example:"k7f2mq3a.1842"`
	Total    int          `json:"total" example:"90"`
	Items    []ConfigItem `json:"items"`
}

// ConfigUpdate is the answer to a change of settings.
type ConfigUpdate struct {
	// Applied are the keys that were changed and are in force.
	Applied []string `json:"applied" example:"scanNotActiveBrokerInterval"`
	// Unchanged are the keys that already had the value.
	Unchanged []string `json:"unchanged"`
	// RestartRequired are the keys that were saved and wait for the next start.
	RestartRequired []string `json:"restartRequired"`
	// Overridden are applied keys that an environment variable or a flag will set
	// back at the next start.
	Overridden []string `json:"overridden"`
	DryRun     bool     `json:"dryRun,omitempty"`
	Revision   string   `json:"revision" example:"k7f2mq3a.1842"`
}

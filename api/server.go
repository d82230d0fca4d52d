package api

// Version tells what is running.
type Version struct {
	Name      string `json:"name" example:"fingerpost"`
	Version   string `json:"version" example:"1.0.0"`
	Commit    string `json:"commit,omitempty" example:"3b6a2ff"`
	GoVersion string `json:"goVersion" example:"go1.26.8"`
	BuiltAt   *Time  `json:"builtAt,omitempty" swaggertype:"string" format:"date-time"`
	// Epoch names this process's sequence of revisions.
	Epoch     string `json:"epoch" example:"k7f2mq3a"`
	StartedAt *Time  `json:"startedAt" swaggertype:"string" format:"date-time"`
	// UptimeMillis is since the start.
	UptimeMillis int64 `json:"uptimeMillis" example:"86400000"`
	// Compatibility is the version of Apache RocketMQ whose NameServer it behaves like.
	Compatibility string `json:"compatibility" example:"5.5.0"`
	// Environment is the setting productEnvName.
	Environment string `json:"environment,omitempty" example:"center"`
}

// WhoAmI tells a caller what the server takes it for.
type WhoAmI struct {
	// Principal is a name such as token:ops, user:ops, cert:ops or anonymous.
	Principal string `json:"principal" example:"token:ops"`
	// Role is none, viewer, registrar or admin.
	Role string `json:"role" enums:"none,viewer,registrar,admin" example:"admin"`
	// Brokers are the patterns of broker names that a registrar may register.
	Brokers []string `json:"brokers" example:"bridge-*"`
	// Method is anonymous, token, basic, certificate or session.
	Method string `json:"method" enums:"anonymous,token,basic,certificate,session" example:"token"`
	// SessionEndsAt is when a session ends unless it is used.
	SessionEndsAt *Time `json:"sessionEndsAt,omitempty" swaggertype:"string" format:"date-time"`
}

// Login is the body that begins a session: a token, or a name and a password.
type Login struct {
	Token    string `json:"token,omitempty" validate:"max=512"`
	Name     string `json:"name,omitempty" validate:"max=255"`
	Password string `json:"password,omitempty" validate:"max=512"`
}

// Check is one check of a health answer.
type Check struct {
	Name string `json:"name" example:"kv-persist"`
	OK   bool   `json:"ok"`
	// Detail says what is wrong.
	Detail string `json:"detail,omitempty"`
}

// Health is the answer of a probe to those who ask for JSON.
type Health struct {
	// Status is ok or failing.
	Status string  `json:"status" enums:"ok,failing" example:"ok"`
	Checks []Check `json:"checks"`
}

// ProblemPage is what a code of a problem means and what to do about it.
type ProblemPage struct {
	Code   string `json:"code" example:"topic-not-found"`
	Status int    `json:"status" example:"404"`
	Title  string `json:"title" example:"Topic has no route"`
	Means  string `json:"means" example:"No live broker has registered the topic."`
	Do     string `json:"do" example:"Check the spelling; look at GET /api/v1/topics?q=…"`
}

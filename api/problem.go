package api

import "time"

// Problem is every error answer (RFC 9457), and the error of [Client].
type Problem struct {
	// Type is a link to a page about the code, relative to the server unless it
	// knows its external URL.
	Type string `json:"type" example:"/problems/topic-not-found"`
	// Title says what the code means, in the asker's language.
	Title string `json:"title" example:"Topic has no route"`
	// Status repeats the status of the answer.
	Status int `json:"status" example:"404"`
	// Detail says what is wrong with this request, in the asker's language.
	Detail string `json:"detail,omitempty" example:"No broker has registered topic OrderCreatd. Did you mean OrderCreated?"`
	// Instance names the request, as the log does.
	Instance string `json:"instance,omitempty" example:"urn:request:0f9c2a7be1d34c5f"`
	// Code is the stable word for programs.
	Code string `json:"code" example:"topic-not-found"`
	// RemotingCode is the code that a caller over remoting would have got.
	RemotingCode *int `json:"remotingCode,omitempty" example:"17"`
	// Errors name each offending place of the request, at most 50.
	Errors []FieldError `json:"errors"`
	// Suggestions are names that the asker may have meant.
	Suggestions []string `json:"suggestions,omitempty" example:"OrderCreated"`
	// RetryAfter is when to come again, if the server says so. It is a header, not part
	// of the body; [Client] fills it in.
	RetryAfter time.Duration `json:"-"`
}

// FieldError is one thing wrong with a request. Either Pointer or Parameter says where.
type FieldError struct {
	// Pointer is the place in the body (RFC 6901); "" is the body itself.
	Pointer *string `json:"pointer,omitempty" example:"/topicConfigTable/Order/perm"`
	// Parameter is the name of a query parameter, a part of the path or a header.
	Parameter string `json:"parameter,omitempty" example:"limit"`
	// Code is the stable word for programs; the set is open.
	Code string `json:"code" example:"out-of-range"`
	// Detail says what is wrong and what is allowed.
	Detail string `json:"detail" example:"must be from 0 to 7, not 9"`
}

// Error returns the code and the detail.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Code + ": " + p.Title
	}
	return p.Code + ": " + p.Detail
}

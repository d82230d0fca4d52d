package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Watch is what a watch wants and how far it has come. It belongs to one caller.
type Watch struct {
	ChangeFilter
	// Since is the revision up to which nothing was missed. The watch keeps it up to
	// date, so that the same value handed in again goes on where the last one ended.
	// "" begins with the present.
	Since string
	// Snapshot asks for what stands now before any change, where Since is empty: items
	// of the type snapshot, then a bookmark.
	Snapshot bool
	// Quiet, if it is not 0, collects changes until nothing has come for so long.
	Quiet time.Duration
}

func (w *Watch) query() url.Values {
	q := set(w.ChangeFilter.query(url.Values{"format": {"ndjson"}}), "since", w.Since)
	if w.Snapshot && w.Since == "" {
		q.Set("snapshot", "true")
	}
	if w.Quiet > 0 {
		q.Set("quiet", w.Quiet.String())
	}
	return q
}

// seen notes how far an item brings the watch. A hello tells where the server is, a
// snapshot is whole with the bookmark after it: neither counts.
func (w *Watch) seen(it *WatchItem) {
	switch it.Event {
	case ItemChange, ItemBookmark, ItemReset:
		w.Since = it.Revision
	}
}

// Watch yields what changes, in order, until the caller breaks off, ctx is over or the
// stream ends; what ended it is yielded last, with an empty item. A stream that the
// server or the network ends is io.EOF or io.ErrUnexpectedEOF: call it again with the
// same watch, after a while, to go on. An item of the type reset says that changes were
// missed, by a restart of the server or because they were too many: read again what you
// keep; the stream itself goes on. An item counts as seen when it is handed out.
func (c *Client) Watch(ctx context.Context, w *Watch) iter.Seq2[WatchItem, error] {
	return func(yield func(WatchItem, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := at("watch").with(w.query())
		r.accept = "application/x-ndjson"
		resp, err := c.send(ctx, r)
		if err != nil {
			yield(WatchItem{}, err)
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			yield(WatchItem{}, c.refused(resp))
			return
		}
		lines := bufio.NewReader(resp.Body)
		for {
			it, err := c.item(lines)
			if err != nil {
				if cause := ctx.Err(); cause != nil {
					err = cause
				}
				yield(WatchItem{}, fmt.Errorf("api: the watch ended: %w", err))
				return
			}
			w.seen(&it)
			if !yield(it, nil) {
				return
			}
		}
	}
}

// item reads one line, which may not be longer than any answer.
func (c *Client) item(lines *bufio.Reader) (it WatchItem, err error) {
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case int64(len(line)) > c.o.MaxBody:
			return it, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return it, io.ErrUnexpectedEOF
		case err != nil:
			return it, err
		}
		return it, json.Unmarshal(line, &it)
	}
}

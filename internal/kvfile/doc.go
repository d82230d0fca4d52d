// Package kvfile saves and loads the key-value table, and any other small file that
// has to survive a crash, so that what was answered as saved is there afterwards.
//
// A [File] is always replaced whole: the new content is written beside it and flushed
// to the disk, the old content becomes the backup (the same name with ".bak", where the
// peers keep theirs), the new one takes the name in one step, and the folder is flushed.
// Whoever looks at the folder at any instant, also after a power cut, finds the old or
// the new content under the name and never a part of one.
//
// Loading prefers the file and falls back to its backup. A broken file is kept aside
// under a name of its own for whoever wants to look at it; it is never deleted.
//
// All of it goes through [FS], a handful of operations, so that tests can make each of
// them fail or stop the program after any of them.
package kvfile

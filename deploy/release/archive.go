package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// gzipTar returns a compressed tar archive of files and of the folders that they are in,
// all made at that time and owned by root. Names begin with prefix, which for a package
// is ./ as dpkg has it.
func gzipTar(prefix string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	add := func(kind byte, name string, mode fs.FileMode, content []byte) error {
		h := &tar.Header{
			Typeflag: kind, Name: prefix + name, Mode: int64(mode.Perm()), Size: int64(len(content)),
			ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatGNU,
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	made := map[string]bool{}
	if prefix != "" {
		if err := add(tar.TypeDir, "", 0o755, nil); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		for i, c := range f.name {
			if dir := f.name[:i]; c == '/' && !made[dir] {
				made[dir] = true
				if err := add(tar.TypeDir, dir+"/", 0o755, nil); err != nil {
					return nil, err
				}
			}
		}
		if f.mode.IsDir() {
			made[f.name] = true
			if err := add(tar.TypeDir, f.name+"/", f.mode, nil); err != nil {
				return nil, err
			}
			continue
		}
		if err := add(tar.TypeReg, f.name, f.mode, f.content); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return gzipped(b.Bytes())
}

// gzipped returns compressed bytes without a name or a time.
func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// tarball returns an archive for those who have tar.
func tarball(files []file, at time.Time) ([]byte, error) { return gzipTar("", files, at) }

// zipped returns an archive for Windows.
func zipped(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

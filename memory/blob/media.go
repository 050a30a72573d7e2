package blob

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/hermes-orchestrator/hermes/conversation"
)

const unknownMedia = "application/octet-stream"

// checkMedia returns the media type of an upload: what is declared, unless it contradicts the bytes where images are
// concerned, because image files are what tools read and what people mistake.
func checkMedia(name, declared string, data []byte) (string, error) {
	if declared != "" {
		parsed, _, err := mime.ParseMediaType(declared)
		if err != nil {
			return "", conversation.Errorf(conversation.CodeInvalidArgument,
				"upload %q has media type %q, which is not of the form image/png: %w", name, declared, err)
		}
		declared = canonicalMedia(parsed)
	}
	found := sniff(data)
	said := declared
	if said == "" || said == unknownMedia {
		said = imageByExtension(name)
	}
	isImage, saidImage := strings.HasPrefix(found, "image/"), strings.HasPrefix(said, "image/")
	if saidImage && !isImage {
		return "", conversation.Errorf(conversation.CodeUnsupportedMedia,
			"upload %q is said to be %s, but its bytes are %s: send the image itself", name, said, found)
	}
	if said != "" && (isImage || saidImage) && said != found {
		return "", conversation.Errorf(conversation.CodeUnsupportedMedia,
			"upload %q is said to be %s, but its bytes are %s: send it under its own type", name, said, found)
	}
	if byName := imageByExtension(name); byName != "" && !isImage {
		return "", conversation.Errorf(conversation.CodeUnsupportedMedia,
			"upload %q is named as %s, but its bytes are %s: send the image itself", name, byName, found)
	}
	if said != "" {
		return said, nil
	}
	return found, nil
}

// sniff tells what bytes are: as browsers do, and three kinds of photos more that telephones and scanners make.
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("II*\x00")), bytes.HasPrefix(data, []byte("MM\x00*")):
		return "image/tiff"
	case len(data) >= 12 && string(data[4:8]) == "ftyp":
		switch string(data[8:12]) {
		case "heic", "heix", "heim", "heis", "mif1":
			return "image/heic"
		case "avif", "avis":
			return "image/avif"
		}
	}
	found, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return canonicalMedia(found)
}

func imageByExtension(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".bmp":
		return "image/bmp"
	case ".tif", ".tiff":
		return "image/tiff"
	case ".heic", ".heif":
		return "image/heic"
	case ".avif":
		return "image/avif"
	}
	return ""
}

// canonicalMedia gives the several names of one kind the same.
func canonicalMedia(mediaType string) string {
	switch mediaType {
	case "image/jpg", "image/pjpeg":
		return "image/jpeg"
	case "image/x-png":
		return "image/png"
	case "image/heif":
		return "image/heic"
	case "image/x-ms-bmp":
		return "image/bmp"
	}
	return mediaType
}

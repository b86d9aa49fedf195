# guide_embed.awk FILE...: print the C table of guide.c with each chapter's name and text
BEGIN {
	print "/* made by guide_embed.awk from conf/guide */"
	print "#pragma GCC diagnostic ignored \"-Woverlength-strings\""
	print "extern const char *const guide_chapters[];"
	print "const char *const guide_chapters[] = {"
}
FNR == 1 {
	name = FILENAME
	gsub(/.*\/|\.md$/, "", name)
	print (NR > 1 ? "," : "") "\"" name "\","
}
{
	gsub(/[\\"?]/, "\\\\&") # trigraphs too
	print "\"" $0 "\\n\""
}
END { print (NR ? "," : "") "(void *)0};" }

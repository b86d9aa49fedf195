/*
 * encoding_of.c - find the encoding of text that is not UTF-8
 *
 * Each candidate decodes the lines with other bytes than ASCII. The score of a candidate is the
 * share of its usual characters. These are letters of one language that the encoding is for, in words
 * of one script, with capitals at the beginning. uchardet decides between candidates with nearly
 * equal scores. If its answer does not decide either, the encoding is doubtful.
 */
#include <iconv.h>
#include <stdio.h>
#include <strings.h>
#include <uchardet/uchardet.h>

#include "bytes.h"
#include "late.h"
#include "sniff_parts.h"

#define SAMPLE_BYTES ((size_t)128 << 10)
#define LEAST_SCORE  0.75
#define NEAR	     0.06 /* uchardet decides between scores with at most this difference */
#define FEW_LETTERS  8	  /* so few different bytes prove no code page that is rare today */
#define FEW_APART    0.15 /* with so few, scores of other scripts must differ so much */
#define WORD_APART   0.3  /* the same for scores of one word in another alphabet than Latin */
#define NO_LETTERS   4	 /* so few different bytes prove no code page but those of Western Europe */
#define ALSO_SHARE   0.7 /* scores of encodings that a doubt names, as a share of the best */
#define LETTERS_HALF 0.1 /* this many usual characters would be evidence for one half */
#define CLEAR	     0.03 /* without uchardet, the best score must exceed others by this much */

enum script { LATIN, CYRILLIC, GREEK, HEBREW, ARABIC, THAI, WIDE };

static const struct candidate {
	const char *name; /* as iconv and the job name the encoding */
	enum script script;
	const char *uchardet; /* names that uchardet uses, with spaces between */
	double handicap;      /* subtracted from the score of encodings that are rare today */
} candidates[] = {
	{"windows-1252", LATIN, "WINDOWS-1252 ISO-8859-1", 0},
	{"iso-8859-15", LATIN, "ISO-8859-15", 0.01},
	{"windows-1250", LATIN, "WINDOWS-1250 ISO-8859-2", 0.005},
	{"iso-8859-2", LATIN, "ISO-8859-2", 0.01},
	{"windows-1254", LATIN, "WINDOWS-1254 ISO-8859-9 ISO-8859-3", 0.01},
	{"windows-1257", LATIN, "WINDOWS-1257 ISO-8859-13 ISO-8859-4", 0.01},
	{"cp850", LATIN, "IBM850", 0.02},
	{"cp852", LATIN, "IBM852", 0.02},
	{"macintosh", LATIN, "MAC", 0.03},
	{"windows-1251", CYRILLIC, "WINDOWS-1251", 0},
	{"koi8-r", CYRILLIC, "KOI8-R", 0},
	{"koi8-u", CYRILLIC, "KOI8-U", 0.01},
	{"cp866", CYRILLIC, "IBM866", 0},
	{"mac-cyrillic", CYRILLIC, "MAC-CYRILLIC", 0.03},
	{"iso-8859-5", CYRILLIC, "ISO-8859-5", 0.02},
	{"windows-1253", GREEK, "WINDOWS-1253 ISO-8859-7", 0},
	{"windows-1255", HEBREW, "WINDOWS-1255 ISO-8859-8", 0},
	{"windows-1256", ARABIC, "WINDOWS-1256 ISO-8859-6", 0},
	{"cp874", THAI, "TIS-620 ISO-8859-11", 0},
	{"cp932", WIDE, "SHIFT_JIS", 0},
	{"euc-jp", WIDE, "EUC-JP", 0},
	{"gb18030", WIDE, "GB18030 HZ-GB-2312", 0},
	{"big5", WIDE, "BIG5", 0},
	{"cp949", WIDE, "UHC EUC-KR", 0},
};
#define CANDIDATES (sizeof candidates / sizeof *candidates)

/* The letters beyond ASCII of languages in Latin script. */
static const struct language {
	const char *letters;
	double weight; /* below 1 for letters that another language has in the same encoding */
} languages[] = {
	{"àâçéèêëîïôùûüÿœæ", 1},  /* French */
	{"äöüß", 1},		  /* German */
	{"æøåéöäü", 1},		  /* Danish, Norwegian */
	{"åäöéü", 1},		  /* Swedish, Finnish */
	{"áéíóúüñ", 1},		  /* Spanish */
	{"áâãàçéêíóôõúü", 1},	  /* Portuguese */
	{"àèéìíîòóùú", 1},	  /* Italian */
	{"éèëïöüáóí", 1},	  /* Dutch */
	{"áðéíóúýþæö", 1},	  /* Icelandic */
	{"ąćęłńóśźż", 1},	  /* Polish */
	{"áčďéěíňóřšťúůýž", 1},	  /* Czech */
	{"áäčďéíĺľňóôŕšťúýž", 1}, /* Slovak */
	{"áéíóöőúüű", 1},	  /* Hungarian */
	{"čćđšž", 1},		  /* Croatian, Slovenian */
	{"ăâîșț", 1},		  /* Romanian */
	{"ăâîşţ", 1},		  /* Romanian, with cedillas */
	{"çğıöşüâî", 1},	  /* Turkish */
	{"ąčęėįšųūž", 1},	  /* Lithuanian */
	{"āčēģīķļņšūž", 1},	  /* Latvian */
	{"äöõüšž", 0.9},	  /* Estonian */
};
#define LANGUAGES (sizeof languages / sizeof *languages)

/* The most frequent letters of scripts whose encodings map the same bytes to other letters. */
static const char *const frequent[] = {[CYRILLIC] = "оеаинтсрвлкмдпуія",
				       [GREEK] = "αοιετσνηυρπκμλάόίέ",
				       [HEBREW] = "יוהלאתמרשבנדםחק",
				       [ARABIC] = "اليمونرتبةعدسفه",
				       [THAI] = "านรอกเงมยลวดทสตปบคหแจพข่้ัิีุูะไใ",
				       [LATIN] = NULL,
				       [WIDE] = NULL};

#define JAPANESE                                                                                                                               \
	"のにはをたがでてとしれさあいうるかなまつ一人年月日本大中会社県市区町村東京都府田山川木藤" \
	"佐高橋鈴渡辺伊小林加金額氏名住所番号電話登録入商店品注文数量価格株式"

static uint32_t lower(uint32_t c)
{
	if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
	    (c >= 0x410 && c <= 0x42f))
		return c + 0x20;
	if (c >= 0x400 && c <= 0x40f)
		return c + 0x50;
	if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
		return c + (c & 1);
	if ((c >= 0x100 && c <= 0x137 && c != 0x131) || (c >= 0x14a && c <= 0x177) ||
	    (c >= 0x218 && c <= 0x21b))
		return c | 1;
	return c == 0x178 ? 0xff : c;
}

static bool contains(const char *set, uint32_t c)
{
	struct bytes left = bytes_str(set);
	uint32_t one;

	while (left.len) {
		size_t n = utf8_decode(left, &one);

		if (one == c)
			return true;
		left = bytes_of(left.ptr + n, left.len - n);
	}
	return false;
}

static bool is_ascii_letter(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_letter_of(enum script script, uint32_t c)
{
	switch (script) {
	case LATIN: return (c >= 0xc0 && c <= 0x24f && c != 0xd7 && c != 0xf7) || c == 0x1e9e;
	case CYRILLIC: return c >= 0x401 && c <= 0x491;
	case GREEK: return c >= 0x386 && c <= 0x3ce;
	case HEBREW: return c >= 0x5d0 && c <= 0x5ea;
	case ARABIC: return (c >= 0x621 && c <= 0x652) || (c >= 0x679 && c <= 0x6d2);
	case THAI: return c >= 0xe01 && c <= 0xe4e;
	case WIDE: break;
	}
	return false;
}

/* Return true for signs that occur in text of any language. */
static bool is_sign(uint32_t c)
{
	static const uint16_t signs[] = {0xa0, 0xa1, 0xa3, 0xa7, 0xa9,	 0xaa,	 0xab,	 0xad, 0xae,
					 0xb0, 0xb1, 0xb2, 0xb3, 0xb5,	 0xb7,	 0xba,	 0xbb, 0xbc,
					 0xbd, 0xbe, 0xbf, 0xd7, 0x20ac, 0x2116, 0x2122, 0};

	for (size_t i = 0; signs[i]; i++)
		if (signs[i] == c)
			return true;
	return c >= 0x2010 && c <= 0x203a;
}

/* Return true for signs that do not occur before a letter, such as fractions and exponents. */
static bool ends_word(uint32_t c)
{
	return c == 0xb2 || c == 0xb3 || (c >= 0xbc && c <= 0xbe) || c == 0xa3 || c == 0xb1 ||
	       c == 0x20ac;
}

/* Return true for signs that may be between two letters: hyphens, dashes, apostrophes and dots. */
static bool joins_letters(uint32_t c)
{
	return (c >= 0x2010 && c <= 0x2015) || c == 0x2019 || c == 0xad || c == 0xb7 || c == 0xa0;
}

static bool is_letter(enum script script, uint32_t c)
{
	return is_ascii_letter(c) || is_letter_of(script, c);
}

static bool is_capital(enum script script, uint32_t c)
{
	return is_letter(script, c) && (c < 0x80 ? c <= 'Z' : lower(c) != c || c == 0x130);
}

/*
 * Return true if no word has this letter between these: a capital after a small letter or between a
 * capital and a small letter, or a small letter between capitals.
 */
static bool is_odd_case(enum script script, uint32_t before, uint32_t c, uint32_t next)
{
	bool after = is_letter(script, before), then = is_letter(script, next);

	if (is_capital(script, c))
		return after &&
		       (!is_capital(script, before) || (then && !is_capital(script, next)));
	return after && then && is_capital(script, before) && is_capital(script, next) &&
	       c != 0xdf && c != 0x131;
}

/* Return true for a Thai vowel or tone mark that is not above or below a consonant. */
static bool is_loose_mark(uint32_t before, uint32_t c)
{
	bool mark = c == 0xe31 || (c >= 0xe34 && c <= 0xe3a) || (c >= 0xe47 && c <= 0xe4e);
	bool tone = c >= 0xe48 && c <= 0xe4c;
	bool vowel = before == 0xe31 || (before >= 0xe34 && before <= 0xe39);

	return mark && !(before >= 0xe01 && before <= 0xe2e) && !(tone && vowel);
}

/* Return true for letters that only Serbian and Macedonian have. */
static bool is_south_cyrillic(uint32_t c)
{
	c = lower(c);
	return c == 0x452 || c == 0x453 || c == 0x455 || c == 0x458 || c == 0x459 || c == 0x45a ||
	       c == 0x45b || c == 0x45c || c == 0x45f;
}

struct tally {
	double letters, signs, bad, usual, words, odd_words, capitals;
	double language[LANGUAGES];
};

/* Count a letter of a language in Latin script. A letter alone, such as `à`, is less usual. */
static void count_latin(struct tally *t, uint32_t before, uint32_t c, uint32_t next)
{
	bool alone = !is_letter(LATIN, before) && !is_letter(LATIN, next);
	double weight = !alone ? 1 : is_capital(LATIN, c) ? 0.3 : 0.8;

	for (size_t i = 0; i < LANGUAGES; i++)
		if (contains(languages[i].letters, lower(c)))
			t->language[i] += weight * languages[i].weight;
}

/* Count one character with its neighbours. Return false for a control character. */
static bool count_letter(struct tally *t, enum script script, uint32_t before, uint32_t c,
			 uint32_t next)
{
	bool beside_ascii = is_ascii_letter(before) || is_ascii_letter(next);
	bool beside_digit = (before >= '0' && before <= '9') || (next >= '0' && next <= '9');
	bool before_letter = is_letter(script, next);
	bool inside = before_letter && is_letter(script, before);

	if (c < 0xa0 || (c >= 0xe000 && c <= 0xf8ff) || c == 0xfffd)
		return false;
	if (!is_letter_of(script, c)) {
		bool fine = is_sign(c) && !(ends_word(c) && before_letter) &&
			    (!inside || joins_letters(c));

		if (inside && c == 0x2019 && script == LATIN) { /* surer than any letter: don’t */
			t->letters++;
			for (size_t i = 0; i < LANGUAGES; i++)
				t->language[i] += 1.1;
			return true;
		}
		t->signs += fine;
		t->bad += !fine;
		return true;
	}
	if ((script != LATIN && beside_ascii) || (beside_digit && script != THAI) ||
	    (script == LATIN && is_odd_case(script, before, c, next)) ||
	    (script == THAI && is_loose_mark(before, c)) ||
	    (script == CYRILLIC && is_south_cyrillic(c))) {
		t->bad++;
		return true;
	}
	t->letters++;
	/* a capital alone is no usual word */
	t->bad += script != LATIN && is_capital(script, c) && !is_letter(script, before) &&
		  !is_letter(script, next);
	if (script == LATIN)
		count_latin(t, before, c, next);
	else if (frequent[script])
		t->usual += contains(frequent[script], lower(c));
	/* a capital after a small letter, because the encoding swaps them */
	bool upper = lower(c) != c, in_word = is_letter_of(script, before);
	t->words += in_word;
	t->capitals += in_word && upper;
	t->odd_words += in_word && upper && lower(before) == before && script != LATIN;
	return true;
}

/* Return true if the encoding has all letters of the language but one. */
static bool has_letters(const char *encoding, const char *letters)
{
	iconv_t cd = iconv_open(encoding, "UTF-8");
	struct bytes left = bytes_str(letters);
	size_t missing = 0, n;
	uint32_t ignored;

	if (cd == (iconv_t)-1)
		return false;
	for (; left.len; left = bytes_of(left.ptr + n, left.len - n)) {
		char room[8], *to = room, *from = (char *)(uintptr_t)left.ptr;
		size_t space = sizeof room;

		n = utf8_decode(left, &ignored);
		size_t bytes = n;
		missing += iconv(cd, &from, &bytes, &to, &space) != 0;
		iconv(cd, NULL, NULL, NULL, NULL);
	}
	iconv_close(cd);
	return missing < 2;
}

static double score_letters(const char *name, enum script script, struct bytes text)
{
	struct tally t = {0};
	uint32_t before = ' ', c = ' ', next;

	for (size_t at = 0; at < text.len || c >= 0x80; before = c, c = next) {
		size_t n = at < text.len
				   ? utf8_decode(bytes_of(text.ptr + at, text.len - at), &next)
				   : 0;

		if (!n)
			next = ' ';
		at += n ? n : 1;
		if (c >= 0x80 && !count_letter(&t, script, before, c, next))
			return 0;
	}
	double best = 0, all = t.letters + t.bad;
	for (size_t i = 0; i < LANGUAGES; i++)
		if (t.language[i] > best && has_letters(name, languages[i].letters))
			best = t.language[i];
	if (all <= 0)
		return t.signs > 0 && script == LATIN ? 0.9 : 0;
	if (script == LATIN)
		return best / all;
	double share = t.letters > 0 && frequent[script] ? t.usual / t.letters / 0.6 : 1;
	double odd = t.words > 0 ? (t.odd_words + 0.2 * t.capitals) / t.words : 0;

	odd = odd < 1 ? odd : 1;
	return t.letters / all * (share < 1 ? 0.4 + 0.6 * share : 1) * (1 - odd);
}

/*
 * Return the share of frequent characters in names, addresses and business data. Chinese, Japanese
 * and Korean encodings map the same bytes to usual characters of each language.
 */
static double share_of_frequent(const char *name, struct bytes text)
{
	static const struct {
		const char *name, *characters;
	} sets[] = {
		{"cp932", JAPANESE},
		{"euc-jp", JAPANESE},
		{"gb18030",
		 "的一是不了在有人年月日中国大上市区省县路街号名称姓地址编金额订单公司北京海广"
		 "州深圳张王李刘陈杨赵黄周吴伟芳娜秀英敏静强磊军洋勇艳杰电话客户类型数量价格"},
		{"big5",
		 "的一是不了在有人年月日中國大上市區省縣路街號名稱姓地址編金額訂單公司台北新竹"
		 "高雄陳林黃張李王吳劉蔡楊電話客戶類型數量價格"},
		{"cp949",
		 "이가는의에을를하고다한도시구군동로길번호명주소일자금액회사서울부산대인천광경기"
		 "김박최정강조윤장임수성전화고객"},
	};
	double good = 0, all = 0;
	uint32_t c;

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		if (strcmp(sets[i].name, name) != 0)
			continue;
		for (size_t at = 0, n = 1; at < text.len && n; at += n) {
			n = utf8_decode(bytes_of(text.ptr + at, text.len - at), &c);
			all += c >= 0x80;
			good += c >= 0x80 && contains(sets[i].characters, c);
		}
	}
	return all > 0 ? good / all : 0;
}

/* Return the share of two-byte characters that the encoding's usual rows contain. */
static double score_wide(const char *name, struct bytes raw)
{
	static const struct {
		const char *name;
		uint8_t first, last, kana, last_kana;
	} rows[] = {{"cp932", 0x88, 0x97, 0x82, 0x83},
		    {"euc-jp", 0xb0, 0xcf, 0xa4, 0xa5},
		    {"gb18030", 0xb0, 0xd7, 0, 0},
		    {"big5", 0xa4, 0xc6, 0, 0},
		    {"cp949", 0xb0, 0xc8, 0, 0}};
	size_t k = 0, ascii = 0, pairs = 0;
	double good = 0, all = 0;

	while (strcmp(rows[k].name, name) != 0)
		k++;
	for (size_t i = 0; i < raw.len; i++) {
		uint8_t b = raw.ptr[i];

		if (b < 0x80)
			continue;
		all++;
		if (k == 0 && b >= 0xa1 && b <= 0xdf) {
			good += 0.6; /* Katakana of one byte may be letters of another encoding */
			continue;
		}
		bool sign = b == (k == 0 ? 0x81 : 0xa1);
		bool usual = b >= rows[k].first && b <= rows[k].last;
		bool kana = rows[k].kana && b >= rows[k].kana && b <= rows[k].last_kana;
		/* GB 18030 and UHC have further characters with other second bytes, all rare */
		bool rare = (k == 2 || k == 4) && i + 1 < raw.len && raw.ptr[i + 1] < 0xa1;
		good += sign ? 0.9 : (usual || kana) && !rare;
		pairs++;
		ascii += i + 1 < raw.len && raw.ptr[i + 1] < 0x80;
		i++;
	}
	/* if each second byte is ASCII, the first ones may be signs such as a degree before C */
	double share = pairs && ascii == pairs ? 0.6 : 1;
	return all > 0 ? share * good / all : 0;
}

static bool decode(const char *name, struct bytes raw, struct buf *out)
{
	iconv_t cd = iconv_open("UTF-8", name);
	char *from = (char *)(uintptr_t)raw.ptr, *to;
	size_t left = raw.len, room = raw.len * 4 + 16;

	if (cd == (iconv_t)-1)
		return false;
	out->len = 0;
	buf_reserve(out, room);
	to = (char *)out->ptr;
	size_t rc = iconv(cd, &from, &left, &to, &room);
	if (rc != (size_t)-1)
		rc = iconv(cd, NULL, NULL, &to, &room);
	iconv_close(cd);
	out->len = (size_t)((uint8_t *)to - out->ptr);
	return rc != (size_t)-1;
}

/* Copy the lines with other bytes than ASCII. */
static void take_sample(const struct lines *l, struct buf *raw)
{
	for (size_t i = 0; i < l->n && raw->len < SAMPLE_BYTES; i++) {
		struct bytes t = line_text(l, i);
		size_t k = 0;

		while (k < t.len && t.ptr[k] < 0x80)
			k++;
		if (k == t.len)
			continue;
		buf_append(raw, t.ptr, t.len);
		buf_put(raw, '\n');
	}
}

/* Write the name that uchardet gives to the encoding, or "". */
static int ask_uchardet(struct bytes raw, char name[40], struct error *err)
{
	int rc = late_need(LATE_UCHARDET, err);

	name[0] = 0;
	if (rc)
		return rc;
	uchardet_t u = uchardet_new();
	if (uchardet_handle_data(u, (const char *)raw.ptr, raw.len) == 0) {
		uchardet_data_end(u);
		snprintf(name, 40, "%s", uchardet_get_charset(u));
	}
	uchardet_delete(u);
	return RC_OK;
}

static bool names_it(const struct candidate *c, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = c->uchardet; len && *p;) {
		size_t n = strcspn(p, " ");

		if (n == len && strncasecmp(p, name, n) == 0)
			return true;
		p += n + (p[n] == ' ');
	}
	return false;
}

/* Return true if both encodings give other text. */
static bool texts_differ(const char *a, const char *b, struct bytes raw)
{
	struct buf x = {0}, y = {0};
	bool differ = !decode(a, raw, &x) || !decode(b, raw, &y) ||
		      !bytes_eq(buf_bytes(&x), buf_bytes(&y));

	buf_release(&x);
	buf_release(&y);
	return differ;
}

static size_t count_letters(struct bytes raw)
{
	bool seen[256] = {false};
	size_t n = 0;

	for (size_t i = 0; i < raw.len; seen[raw.ptr[i]] = true, i++)
		n += raw.ptr[i] >= 0x80 && !seen[raw.ptr[i]];
	return n;
}

/* Return true for a code page of DOS or Macintosh that only a few letters show. */
static bool is_unlikely(size_t best, size_t next, const double *score, struct bytes raw)
{
	double other = next == SIZE_MAX ? 0 : score[next];

	return candidates[best].script == LATIN && candidates[best].handicap >= 0.02 &&
	       (count_letters(raw) < FEW_LETTERS || other > score[best] - 0.2);
}

/*
 * Return true if few different bytes are all that shows the encoding, and they are letters of
 * another script, too. uchardet knows nothing then.
 */
static bool is_guess(size_t best, size_t next, const double *score, struct bytes raw)
{
	bool wide = candidates[best].script == WIDE, dos = candidates[next].handicap == 0.02;
	size_t n = count_letters(raw);

	bool word = n <= NO_LETTERS && candidates[best].script != LATIN; /* or two */

	if ((n < NO_LETTERS && !dos && score[next] > score[best] - FEW_APART) ||
	    (word && score[next] > score[best] - WORD_APART))
		return true;
	return n < FEW_LETTERS && (wide || candidates[best].script != candidates[next].script) &&
	       candidates[next].handicap < 0.02 && score[next] > score[best] - FEW_APART;
}

/* Note further encodings that give other text and have a score near the best. */
static void name_also(struct encoding_found *found, size_t best, size_t next, const double *score,
		      struct bytes raw)
{
	size_t n = 0;

	for (size_t i = 0; i < CANDIDATES && n + 1 < ALSO_MOST; i++)
		if (i != best && i != next && score[i] > 0 && score[i] > ALSO_SHARE * score[best] &&
		    texts_differ(candidates[i].name, candidates[best].name, raw))
			found->also[n++] = candidates[i].name;
}

/* Return how sure a score is, as a few characters are little evidence. */
static double sureness(double score, struct bytes raw)
{
	double n = 0;

	for (size_t i = 0; i < raw.len; i++)
		n += raw.ptr[i] >= 0x80;
	return (score < 1 ? score : 1) * n / (n + LETTERS_HALF);
}

int encoding_of(const struct lines *l, struct encoding_found *found, struct error *err)
{
	double score[CANDIDATES] = {0};
	char said[40];
	struct buf raw = {0}, text = {0};
	size_t best = 0, next = SIZE_MAX;

	*found = (struct encoding_found){0};
	take_sample(l, &raw);
	int rc = ask_uchardet(buf_bytes(&raw), said, err);
	for (size_t i = 0; i < CANDIDATES && rc == RC_OK; i++) {
		const struct candidate *c = &candidates[i];

		if (!decode(c->name, buf_bytes(&raw), &text))
			continue;
		double wide = 0.2 * share_of_frequent(c->name, buf_bytes(&text)) - 0.1;
		score[i] =
			(c->script == WIDE ? wide + score_wide(c->name, buf_bytes(&raw))
					   : score_letters(c->name, c->script, buf_bytes(&text))) -
			c->handicap;
		best = score[i] > score[best] ? i : best;
	}
	for (size_t i = 0; i < CANDIDATES; i++)
		if (names_it(&candidates[i], said) && score[i] > score[best] - NEAR &&
		    !names_it(&candidates[best], said))
			best = i;
	for (size_t i = 0; i < CANDIDATES; i++)
		if (i != best && score[i] > 0 && (next == SIZE_MAX || score[i] > score[next]) &&
		    texts_differ(candidates[i].name, candidates[best].name, buf_bytes(&raw)))
			next = i;
	found->name = candidates[best].name;
	found->score = sureness(score[best], buf_bytes(&raw));
	found->next = next == SIZE_MAX ? NULL : candidates[next].name;
	found->next_score = next == SIZE_MAX ? 0 : sureness(score[next], buf_bytes(&raw));
	found->doubtful = score[best] < LEAST_SCORE ||
			  is_unlikely(best, next, score, buf_bytes(&raw)) ||
			  (next != SIZE_MAX && is_guess(best, next, score, buf_bytes(&raw))) ||
			  (next != SIZE_MAX && score[next] > score[best] - CLEAR &&
			   !names_it(&candidates[best], said));
	name_also(found, best, next, score, buf_bytes(&raw));
	buf_release(&raw);
	buf_release(&text);
	return rc;
}

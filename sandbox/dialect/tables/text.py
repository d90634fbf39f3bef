"""Allowlist: text, formats, encodings, hashes and markup."""

from __future__ import annotations

from sandbox.dialect.tables.entry import Entry

_OPEN = "use `open(name, mode)`, or `io.StringIO` and `io.BytesIO`"

ENTRIES: dict[str, Entry] = {
    "json": Entry("JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads", supplied="decoder encoder"),
    "json.decoder": Entry("JSONDecodeError JSONDecoder"),
    "json.encoder": Entry("JSONEncoder"),
    "re": Entry(
        """A ASCII DEBUG DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError RegexFlag S U
        UNICODE VERBOSE X compile error escape findall finditer fullmatch match purge search split sub subn"""
    ),
    "string": Entry(
        """Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable
        punctuation whitespace""",
        supplied="Formatter",
    ),
    "textwrap": Entry("TextWrapper dedent fill indent shorten wrap"),
    "unicodedata": Entry(
        """UCD bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup
        mirrored name normalize numeric ucd_3_2_0 unidata_version"""
    ),
    "difflib": Entry(
        "Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK SequenceMatcher context_diff diff_bytes get_close_matches "
        "ndiff restore unified_diff"
    ),
    "html": Entry("escape unescape", supplied="entities parser"),
    "html.entities": Entry("codepoint2name entitydefs html5 name2codepoint"),
    "html.parser": Entry("HTMLParser"),
    "csv": Entry(
        """Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL
        QUOTE_STRINGS Sniffer excel excel_tab field_size_limit get_dialect list_dialects reader
        register_dialect unix_dialect unregister_dialect writer"""
    ),
    "io": Entry(
        """BufferedIOBase BufferedRandom BufferedReader BufferedWriter BytesIO DEFAULT_BUFFER_SIZE IOBase RawIOBase
        SEEK_CUR SEEK_END SEEK_SET StringIO TextIOBase TextIOWrapper UnsupportedOperation""",
        supplied="open",
        left_out="raw files reach the file system",
        hints=(("FileIO", _OPEN), ("open_code", _OPEN)),
    ),
    "struct": Entry("Struct calcsize error iter_unpack pack pack_into unpack unpack_from"),
    "base64": Entry(
        """a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode b64encode
        b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode
        urlsafe_b64encode z85decode z85encode""",
        left_out="file converters are a command-line tool",
    ),
    "binascii": Entry(
        "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx "
        "hexlify unhexlify"
    ),
    "codecs": Entry(
        """BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32 BOM_UTF8 decode encode getincrementaldecoder
        getincrementalencoder getreader getwriter iterdecode iterencode""",
        supplied="open",
        left_out="`register` changes the process",
    ),
    "hashlib": Entry(
        """algorithms_available algorithms_guaranteed blake2b blake2s file_digest md5 new pbkdf2_hmac scrypt sha1
        sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256"""
    ),
    "hmac": Entry("HMAC compare_digest digest new"),
    "uuid": Entry(
        """NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 RESERVED_FUTURE RESERVED_MICROSOFT RESERVED_NCS
        RFC_4122 SafeUUID UUID uuid3 uuid4 uuid5""",
        left_out="`uuid1` and `getnode` read the machine's network card",
        hints=(("uuid1", "use `uuid.uuid4()`"),),
    ),
    "zlib": Entry(
        """DEFLATED MAX_WBITS Z_BEST_COMPRESSION Z_BEST_SPEED Z_DEFAULT_COMPRESSION adler32 compress compressobj crc32
        decompress decompressobj error"""
    ),
    "gzip": Entry(
        "BadGzipFile compress decompress",
        supplied="GzipFile open",
    ),
    "bz2": Entry("BZ2Compressor BZ2Decompressor compress decompress", supplied="BZ2File open"),
    "lzma": Entry(
        "LZMACompressor LZMADecompressor LZMAError compress decompress FORMAT_ALONE FORMAT_AUTO FORMAT_XZ "
        "PRESET_DEFAULT PRESET_EXTREME",
        supplied="LZMAFile open",
    ),
    "zipfile": Entry(
        supplied="""BadZipFile BadZipfile LargeZipFile Path ZIP_BZIP2 ZIP_DEFLATED ZIP_LZMA ZIP_STORED ZipFile ZipInfo
        is_zipfile""",
        left_out="files of the session's workspace and open files; `PyZipFile` compiles",
    ),
    "tarfile": Entry(
        supplied="""CompressionError DEFAULT_FORMAT DIRTYPE ExtractError FilterError GNU_FORMAT HeaderError LNKTYPE
        OutsideDestinationError PAX_FORMAT REGTYPE ReadError SYMTYPE SpecialFileError StreamError TarError TarFile
        TarInfo USTAR_FORMAT data_filter is_tarfile open""",
        left_out="files of the session's workspace and open files; always unpacked with the `data` filter",
    ),
    "configparser": Entry(
        supplied="""BasicInterpolation ConfigParser ConverterMapping DEFAULTSECT DuplicateOptionError
        DuplicateSectionError Error ExtendedInterpolation Interpolation InterpolationDepthError InterpolationError
        InterpolationMissingOptionError InterpolationSyntaxError MAX_INTERPOLATION_DEPTH MissingSectionHeaderError
        NoOptionError NoSectionError ParsingError RawConfigParser SectionProxy""",
    ),
    "tomllib": Entry("TOMLDecodeError load loads"),
    "shlex": Entry(
        "join quote split", left_out="the `shlex` class opens files", hints=(("shlex", "use `shlex.split`"),)
    ),
    "fnmatch": Entry("filter fnmatch fnmatchcase translate"),
    "keyword": Entry("iskeyword issoftkeyword kwlist softkwlist"),
    "colorsys": Entry("hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb"),
    "quopri": Entry("decodestring encodestring"),
    "urllib": Entry(supplied="parse", left_out="there is no network: call a tool"),
    "urllib.parse": Entry(
        """ParseResult ParseResultBytes SplitResult SplitResultBytes parse_qs parse_qsl quote quote_from_bytes
        quote_plus unquote unquote_plus unquote_to_bytes urldefrag urlencode urljoin urlparse urlsplit
        urlunparse urlunsplit"""
    ),
    "xml": Entry(supplied="etree dom sax"),
    "xml.etree": Entry(supplied="ElementTree"),
    "xml.etree.ElementTree": Entry(
        """Comment Element PI ParseError ProcessingInstruction QName SubElement TreeBuilder XML XMLID XMLParser
        XMLPullParser fromstring fromstringlist indent iselement register_namespace tostring tostringlist""",
        supplied="ElementTree parse iterparse canonicalize",
        left_out="files are those of the session's workspace, or open ones",
    ),
    "xml.dom": Entry(supplied="minidom"),
    "xml.dom.minidom": Entry("parseString Document Node", supplied="parse"),
    "xml.sax": Entry(supplied="saxutils", left_out="parsers open files and addresses"),
    "xml.sax.saxutils": Entry(supplied="escape quoteattr unescape"),
    "email": Entry(
        "message_from_binary_file message_from_bytes message_from_file message_from_string",
        supplied="encoders errors header message mime parser policy utils",
    ),
    "email.encoders": Entry("encode_7or8bit encode_base64 encode_noop encode_quopri"),
    "email.parser": Entry("BytesHeaderParser BytesParser FeedParser HeaderParser Parser"),
    "email.errors": Entry("HeaderParseError MessageError MessageParseError"),
    "email.header": Entry("Header decode_header make_header"),
    "email.message": Entry("EmailMessage Message"),
    "email.mime": Entry(supplied="application base multipart text"),
    "email.mime.application": Entry("MIMEApplication"),
    "email.mime.base": Entry("MIMEBase"),
    "email.mime.multipart": Entry("MIMEMultipart"),
    "email.mime.text": Entry("MIMEText"),
    "email.policy": Entry("EmailPolicy HTTP SMTP SMTPUTF8 compat32 default strict"),
    "email.utils": Entry(
        """collapse_rfc2231_value decode_rfc2231 encode_rfc2231 format_datetime formataddr formatdate getaddresses
        mktime_tz parseaddr parsedate parsedate_to_datetime parsedate_tz quote unquote""",
        left_out="`make_msgid` and `localtime` read the machine",
    ),
    "mimetypes": Entry("guess_all_extensions guess_extension guess_type"),
}

"""Allowlist: numbers, containers, algorithms, dates and object helpers."""

from __future__ import annotations

from sandbox.dialect.tables.entry import Entry

ENTRIES: dict[str, Entry] = {
    "math": Entry(
        """acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2
        expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan
        isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder
        sin sinh sqrt sumprod tan tanh tau trunc ulp"""
    ),
    "cmath": Entry(
        """acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj
        phase pi polar rect sin sinh sqrt tan tanh tau"""
    ),
    "statistics": Entry(
        """NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean kde kde_random
        linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance
        quantiles stdev variance"""
    ),
    "decimal": Entry(
        """BasicContext Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DefaultContext
        DivisionByZero DivisionImpossible DivisionUndefined ExtendedContext FloatOperation Inexact
        InvalidContext InvalidOperation Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR
        ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow getcontext
        localcontext setcontext MAX_PREC MAX_EMAX MIN_EMIN MIN_ETINY"""
    ),
    "fractions": Entry("Fraction"),
    "numbers": Entry("Complex Integral Number Rational Real"),
    "random": Entry(
        """Random SystemRandom betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits
        getstate lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed
        setstate shuffle triangular uniform vonmisesvariate weibullvariate"""
    ),
    "secrets": Entry(
        "SystemRandom choice compare_digest randbelow randbits token_bytes token_hex token_urlsafe DEFAULT_ENTROPY"
    ),
    "collections": Entry(
        "ChainMap Counter OrderedDict UserDict UserList defaultdict deque",
        supplied="UserString namedtuple abc",
    ),
    "collections.abc": Entry(
        """AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer ByteString Callable Collection Container
        Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView
        MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"""
    ),
    "itertools": Entry(
        """accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest"""
    ),
    "functools": Entry(
        "cache cmp_to_key lru_cache partial partialmethod reduce total_ordering Placeholder",
        supplied="cached_property singledispatch singledispatchmethod update_wrapper wraps "
        "WRAPPER_ASSIGNMENTS WRAPPER_UPDATES",
        left_out="`update_wrapper` copies only the usual attributes; `singledispatch` never evaluates text annotations",
    ),
    "operator": Entry(
        """abs add and_ call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv
        ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter
        itruediv ixor le length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub
        truediv truth xor""",
        supplied="attrgetter methodcaller",
        left_out="`attrgetter` and `methodcaller` check the names they are given",
    ),
    "heapq": Entry("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "bisect": Entry("bisect bisect_left bisect_right insort insort_left insort_right"),
    "array": Entry("ArrayType array typecodes"),
    "graphlib": Entry("CycleError TopologicalSorter"),
    "copy": Entry("Error replace", supplied="copy deepcopy"),
    "pprint": Entry(
        "isreadable isrecursive pformat saferepr", supplied="PrettyPrinter pp pprint", left_out="prints go to the run"
    ),
    "reprlib": Entry("Repr aRepr recursive_repr repr"),
    "enum": Entry(
        "CONFORM CONTINUOUS EJECT EnumCheck FlagBoundary KEEP NAMED_FLAGS STRICT UNIQUE auto member nonmember "
        "show_flag_values unique verify",
        supplied="Enum Flag IntEnum IntFlag StrEnum",
        left_out="`EnumType` makes classes unchecked; `global_enum` overwrites names of other modules",
    ),
    "dataclasses": Entry(
        "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple is_dataclass replace",
        supplied="Field dataclass field fields make_dataclass",
    ),
    "types": Entry(
        """AsyncGeneratorType BuiltinFunctionType BuiltinMethodType CoroutineType EllipsisType FunctionType
        GeneratorType GenericAlias LambdaType MappingProxyType MethodType NoneType NotImplementedType
        SimpleNamespace TracebackType UnionType""",
        left_out="code, frame and module types lead out of the program; `new_class` makes classes unchecked",
    ),
    "typing": Entry(
        """AbstractSet Annotated Any AnyStr AsyncGenerator AsyncIterable AsyncIterator Awaitable BinaryIO Callable
        ChainMap ClassVar Collection Concatenate Container Coroutine Counter DefaultDict Deque Dict Final
        FrozenSet Generator Generic Hashable IO ItemsView Iterable Iterator KeysView List Literal
        LiteralString Mapping Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType
        NoReturn NotRequired Optional OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Pattern Protocol
        ReadOnly Required Reversible Self Sequence Set Sized SupportsAbs SupportsBytes SupportsComplex
        SupportsFloat SupportsIndex SupportsInt SupportsRound TYPE_CHECKING Text TextIO Tuple TypeAlias
        TypeAliasType TypeGuard TypeIs TypeVar TypeVarTuple TypedDict Union Unpack ValuesView
        assert_never assert_type cast dataclass_transform final get_args is_typeddict
        no_type_check overload override runtime_checkable""",
        supplied="Type get_origin get_type_hints",
        left_out="`ForwardRef` evaluates text",
        hints=(("ForwardRef", "write the name of the class as text"),),
    ),
    "abc": Entry(
        "ABC abstractclassmethod abstractmethod abstractproperty abstractstaticmethod get_cache_token",
        supplied="ABCMeta",
        left_out="`ABCMeta` serves only as `metaclass=ABCMeta`",
    ),
    "contextlib": Entry(
        """AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack ContextDecorator
        ExitStack aclosing asynccontextmanager closing contextmanager nullcontext suppress""",
        supplied="redirect_stderr redirect_stdout",
        left_out="`chdir` changes the process",
    ),
    "contextvars": Entry("Context ContextVar Token copy_context"),
    "weakref": Entry("WeakKeyDictionary WeakSet WeakValueDictionary finalize proxy ref"),
    "datetime": Entry("MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo"),
    "zoneinfo": Entry(
        "InvalidTZPathWarning ZoneInfo ZoneInfoNotFoundError",
        supplied="available_timezones",
        left_out="`reset_tzpath` changes where files are read",
    ),
    "time": Entry(
        """altzone asctime ctime daylight get_clock_info gmtime localtime mktime monotonic monotonic_ns perf_counter
        perf_counter_ns process_time process_time_ns sleep strftime strptime struct_time thread_time time
        time_ns timezone tzname""",
        left_out="clocks cannot be set",
    ),
    "calendar": Entry(
        """APRIL AUGUST Calendar DECEMBER Day FEBRUARY FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError
        JANUARY JULY JUNE MARCH MAY MONDAY Month NOVEMBER OCTOBER SATURDAY SEPTEMBER SUNDAY THURSDAY
        TUESDAY TextCalendar WEDNESDAY calendar day_abbr day_name firstweekday isleap leapdays month
        month_abbr month_name monthcalendar monthrange setfirstweekday timegm weekday weekheader""",
        left_out="locale calendars change the process",
    ),
    "ipaddress": Entry(
        """AddressValueError IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network
        NetmaskValueError collapse_addresses get_mixed_type_key ip_address ip_interface ip_network
        summarize_address_range v4_int_to_packed v6_int_to_packed"""
    ),
}

"""Who makes devices: the names that requests and inventories use for them."""

# One vendor a row; the first name is the one that inventories use.
NAMES: tuple[tuple[str, ...], ...] = (
    ("NVIDIA", "NVIDIA Corporation"),
    ("AMD", "Advanced Micro Devices"),
    ("Intel", "Intel Corporation"),
    ("Huawei", "Ascend"),
    ("Hygon", "DCU"),
    ("Cambricon", "MLU"),
    ("Kunlunxin", "Kunlun"),
    ("Iluvatar", "Iluvatar CoreX", "CoreX"),
    ("MThreads", "Moore Threads"),
    ("MetaX", "metax-tech"),
    ("Enflame", "GCU"),
    ("Biren",),
    ("Vastai",),
    ("AWS", "Amazon", "Neuron", "AWSNeuron"),
)
_CANONICAL = {name.casefold(): names[0] for names in NAMES for name in names}


def canonical(name: str) -> str:
    """The canonical spelling of a vendor's name; one that is not in the table stays as it is."""
    return _CANONICAL.get(name.casefold(), name)


def is_same(one: str, other: str) -> bool:
    """Whether two names mean one vendor, in any spelling of the table and any case."""
    return canonical(one).casefold() == canonical(other).casefold()

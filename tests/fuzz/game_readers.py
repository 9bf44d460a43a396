"""Games, potentials, maps and masks. The package is imported where it is needed: its parent needs the names only."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

from tests.fuzz.reader import Reader, Seeds, bytes_of

# Games ------------------------------------------------------------------------------------------------


class _Games(Reader):
    suffix = ".json"

    @cached_property
    def seeds(self) -> Seeds:
        import numpy as np

        from potentia.games import NormalForm, write_game

        potential = np.array([[0.0, 1.0, 3.0], [2.0, 0.5, -1.0]])
        payoffs = np.array([potential, potential + 1.0])
        line = np.array([[False, True, False], [True, False, True], [False, True, False]])
        games = [
            NormalForm(payoffs, potential=potential),
            NormalForm(payoffs, moves=[[[1], [0]], [[1], [0, 2], [1]]]),
            NormalForm(np.arange(18.0).reshape(2, 3, 3), moves=line),
            NormalForm(np.arange(24.0).reshape(3, 2, 2, 2)),
            NormalForm(payoffs, players=["a", "b"], actions=[["x", "y"], ["u", "v", "ü"]], unit="1/2"),
        ]
        return [
            (self.suffix, bytes_of(lambda path: write_game(one, path, name="g"), self.folder, self.suffix))  # noqa: B023
            for one in games
        ]

    def read(self, path: Path) -> None:
        from potentia.games import read_game

        game = read_game(path)
        game.describe()
        game.fingerprint()


class JsonGame(_Games):
    form = "json"


class NpzGame(_Games):
    form, suffix = "npz", ".npz"


NFG = (
    b'NFG 1 R "Stag hunt" { "Ann" "Bob \\"B\\"" } { { "stag" "hare" } { "stag" "h\xc3\xa4re" } }\n'
    b'"" 4 4 3 0 0 3 1/3 -.3e1\n',
    b'NFG 1 D "c" { "1" "2" "3" }\r\n{ 2 1 2 }\r\n1 2 3 4 5 6 7 8 9 10 11 12\r\n',
    b'\xef\xbb\xbfNFG 1 R "o" { "I" "II" } { { "a" "b" } { "x" "y" } }\n"a comment"\n'
    b'{\n{ "o1" 1, 1/2 }\n{ "" 2 2 }\n}\n1 2 0 1\n',
)
GAM = (b"2\n3 2\n\n3 2 0 3 5 6 3 2 3 2 6 1", b"# of GAMUT\n3\n2 1 2\n" + b"0.5 -1 2e-1 3 " * 3)


class NfgGame(_Games):
    form = "words"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".nfg", content) for content in NFG]


class GamGame(_Games):
    form = "words"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".gam", content) for content in GAM]


class _Potentials(Reader):
    def read(self, path: Path) -> None:
        import numpy as np

        from potentia.games import NormalForm
        from potentia.games.formats.files import read_potential

        read_potential(path, NormalForm(np.zeros((2, 2, 3))))


class JsonPotential(_Potentials):
    form = "json"

    @cached_property
    def seeds(self) -> Seeds:
        plain = [[0.0, 1.0, 2.0], [3.5, 4, -5]]
        return [(".json", json.dumps(one).encode()) for one in (plain, {"potential": plain, "name": "g"})]


class NpyPotential(_Potentials):
    form = "npy"

    @cached_property
    def seeds(self) -> Seeds:
        import numpy as np

        from tests.fuzz.archives import npy

        return [(".npy", npy(np.arange(6).reshape(2, 3).astype(kind))) for kind in ("f8", "i8", ">f4")]


class NpzPotential(_Potentials):
    form = "npz"

    @cached_property
    def seeds(self) -> Seeds:
        import numpy as np

        from tests.fuzz.archives import npy, packed

        phi = ("potential.npy", npy(np.arange(6.0).reshape(2, 3)))
        return [(".npz", packed([phi])), (".npz", packed([("payoffs.npy", npy(np.zeros((2, 2, 3)))), phi]))]


# Maps -------------------------------------------------------------------------------------------------


class _Maps(Reader):
    def read(self, path: Path) -> None:
        from potentia.games import read_world

        world = read_world(path)
        world.total  # noqa: B018
        repr(world)


class TableMap(_Maps):
    form = "table"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".csv", b"0,1,2.5\nx,4e-3,5\n"), (".txt", b"0,1,2,3\n4,#,6,7\n8,9,1,1\n"), (".tsv", b"1,2\n3,\n")]


class NpyMap(_Maps):
    form = "npy"

    @cached_property
    def seeds(self) -> Seeds:
        import numpy as np

        from tests.fuzz.archives import npy

        return [(".npy", npy(np.arange(6).reshape(2, 3).astype(kind))) for kind in ("f8", "u1", "?")]


class NpzMap(_Maps):
    form = "npz"

    @cached_property
    def seeds(self) -> Seeds:
        from potentia.games import World, random_world, write_world

        worlds = [
            random_world(1, 2, (5, 4)),
            World([[0.0, 1.0], [2.0, 3.0]], blocked=[[0, 1], [0, 0]], targets=[(0, 0)]),
        ]
        return [(".npz", bytes_of(lambda path: write_world(one, path), self.folder, ".npz")) for one in worlds]  # noqa: B023


class ImageMap(_Maps):
    form = "image"

    @cached_property
    def seeds(self) -> Seeds:
        from tests.unit.games.map_files import DEEP, RGB, grey, image_bytes, palette, tiff16

        png = [image_bytes(grey()), image_bytes(grey(DEEP)), image_bytes(grey(RGB)), palette(), palette(transparency=2)]
        others = [(".jpg", "JPEG"), (".bmp", "BMP"), (".tif", "TIFF"), (".gif", "GIF"), (".pgm", "PPM")]
        return [
            *((".png", content) for content in [*png, *png]),
            *((suffix, image_bytes(grey(), kind)) for suffix, kind in others),
            (".tif", tiff16()),
            (".tif", tiff16(12)),
        ]


class GridMap(_Maps):
    @cached_property
    def seeds(self) -> Seeds:
        head = b"ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 20.5\ncellsize 5\n"
        small = [head + b"NODATA_value -1\n1 2 3\n4 -1 6\n", head + b"0 1 2\n3 4 5e-1\n"]
        digits = b" ".join(b"%d" % (7919 * k) for k in range(60))  # most of which may be others
        return [(".asc", one) for one in (*small, head.replace(b"3", b"30", 1) + digits)]

    def read(self, path: Path) -> None:
        from potentia.games import read_world

        repr(read_world(path, cell_size="5m"))  # without a projection there is no unit


class GeoTiffMap(_Maps):
    @cached_property
    def seeds(self) -> Seeds:
        import numpy as np
        import rasterio

        def written(path: Path, **options: object) -> None:
            values = np.arange(6.0).reshape(2, 3)
            place = rasterio.Affine(2, 0, 500_000, 0, -2, 5_700_000)
            shape = {"height": 2, "width": 3, "count": 1, "dtype": "float32"}
            with rasterio.open(
                path, "w", driver="GTiff", **shape, crs="EPSG:25832", transform=place, **options
            ) as file:
                file.write(values, 1)

        kinds: list[dict[str, object]] = [{}, {"nodata": 3}, {"compress": "deflate"}, {"BIGTIFF": "YES"}]
        return [(".tif", bytes_of(lambda path: written(path, **kind), self.folder, ".tif")) for kind in kinds]  # noqa: B023


class _Masks(Reader):
    def read(self, path: Path) -> None:
        from potentia.games import read_world

        known = self.folder / "map.csv"
        if not known.exists():
            known.write_text("0,1,2\n3,4,5\n")
        read_world(known, blocked=path)


class TableMask(_Masks):
    form = "table"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".csv", b"0,1,0\n0,x,1\n"), (".txt", b"1,0,0\n0,0,0\n")]


class ImageMask(_Masks):
    form = "image"

    @cached_property
    def seeds(self) -> Seeds:
        import numpy as np

        from tests.unit.games.map_files import WALL, grey, image_bytes

        black = np.where(WALL, 255, 0).astype(np.uint8)
        return [
            (".png", image_bytes(grey(black))),
            (".png", image_bytes(grey(WALL))),
            (".bmp", image_bytes(grey(black), "BMP")),
        ]


class NpyMask(_Masks):
    form = "npy"

    @cached_property
    def seeds(self) -> Seeds:
        from tests.fuzz.archives import npy
        from tests.unit.games.map_files import WALL

        return [(".npy", npy(WALL)), (".npy", npy(WALL.astype("i4")))]

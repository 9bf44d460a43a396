"""The table of everything that potentia reads from files."""

from __future__ import annotations

from tests.fuzz.game_readers import (
    GamGame,
    GeoTiffMap,
    GridMap,
    ImageMap,
    ImageMask,
    JsonGame,
    JsonPotential,
    NfgGame,
    NpyMap,
    NpyMask,
    NpyPotential,
    NpzGame,
    NpzMap,
    NpzPotential,
    TableMap,
    TableMask,
)
from tests.fuzz.reader import Reader
from tests.fuzz.recording_readers import Inside, Recordings
from tests.fuzz.run_readers import BeliefRuns, CoverageRuns, RingRuns
from tests.fuzz.study_readers import Changes, Chunks, ChunksAsTheyWere, Inputs, Manifests, NamedFiles, Specifications

READERS: dict[str, type[Reader]] = {
    "game-json": JsonGame,
    "game-npz": NpzGame,
    "game-nfg": NfgGame,
    "game-gam": GamGame,
    "potential-json": JsonPotential,
    "potential-npy": NpyPotential,
    "potential-npz": NpzPotential,
    "map-table": TableMap,
    "map-image": ImageMap,
    "map-grid": GridMap,
    "map-geotiff": GeoTiffMap,
    "map-npy": NpyMap,
    "map-npz": NpzMap,
    "mask-table": TableMask,
    "mask-image": ImageMask,
    "mask-npy": NpyMask,
    "specification": Specifications,
    "change": Changes,
    "named-file": NamedFiles,
    "manifest": Manifests,
    "chunk": Chunks,
    "chunk-as-it-was": ChunksAsTheyWere,
    "input": Inputs,
    "saved-ring": RingRuns,
    "saved-coverage": CoverageRuns,
    "saved-belief": BeliefRuns,
    "recording": Recordings,
    "recording-inside": Inside,
}

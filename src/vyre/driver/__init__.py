"""From compiled programs to devices: the contract, artifacts, routing, grids, grid barriers."""

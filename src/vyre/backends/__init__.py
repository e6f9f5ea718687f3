"""The backends that ship with vyre. They do not know each other; `vyre.driver.registry` lists them."""

#!/usr/bin/env node
// Becomes dist/bin/holotype.js. Written so that the oldest Node can read it, and says what is needed instead of failing
// in the first file with newer syntax.
(function (major, minor) {
  if (major > 20 || (major === 20 && minor >= 19)) return require("./main.js");
  console.error("holotype: needs Node 20.19 or newer; this is " + process.version);
  process.exitCode = 1;
}).apply(undefined, process.versions.node.split(".").map(Number));

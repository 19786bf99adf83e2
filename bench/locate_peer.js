// SPDX-License-Identifier: Apache-2.0
// What a Node programmer writes over npm's hashring to say where keys are: lines of stdin, each answered by
// "key<TAB>server". Arguments: the folder of node_modules, the servers. Beside `gyre locate` in bench/locate.py.
'use strict';
const HashRing = require(require.resolve('hashring', { paths: [process.argv[2]] }));
const readline = require('readline');
const fs = require('fs');

const ring = new HashRing(process.argv.slice(3), 'md5', { 'max cache size': 1 });
let out = [];
let size = 0;

function flush() {
  fs.writeSync(1, out.join(''));
  out = [];
  size = 0;
}

readline.createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (key) => {
  const answer = `${key}\t${ring.get(key)}\n`;
  out.push(answer);
  size += answer.length;
  if (size > 65536) flush();
}).on('close', flush);

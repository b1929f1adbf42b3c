#!/usr/bin/env node
/* The command. Like check-node.cjs, it uses only syntax that every version of Node.js can parse; the rest is loaded after the check. */
'use strict';
var complaint = require('./check-node.cjs').complaint();
if (complaint) {
  console.error('terrarium: %s', complaint);
  process.exitCode = 2;
} else require('./command.cjs');

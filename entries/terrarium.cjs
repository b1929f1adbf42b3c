#!/usr/bin/env node
/* The command. Like check-node.cjs in words that every Node can read; what follows is loaded when it can be. */
'use strict';
var complaint = require('./check-node.cjs').complaint();
if (complaint) {
  console.error('terrarium: %s', complaint);
  process.exitCode = 2;
} else require('./command.cjs');

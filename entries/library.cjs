/* The library for require(). Like check-node.cjs, it uses only syntax that every version of Node.js can parse. */
'use strict';
require('./check-node.cjs').refuseOldNode();
module.exports = require('./platform-thread.cjs');

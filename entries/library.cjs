/* The library for require(). Like check-node.cjs in words that every Node can read. */
'use strict';
require('./check-node.cjs').refuseOldNode();
module.exports = require('./library-required.cjs');

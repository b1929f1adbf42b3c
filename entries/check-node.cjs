/*
 * Ends with a message if Node.js is too old. It runs first, so it uses only syntax that every version of Node.js can parse: no arrow
 * functions, no const.
 */
'use strict';

/*
 * A message if the version is too old, else undefined.
 * version: such as `20.19.0`; range: as in package.json's engines, the oldest version first, such as `^20.19.0 || >=22.2.0`
 */
function nodeComplaint(version, range) {
  var minimums = range.split('||').map(numbersOf);
  var current = numbersOf(version);
  var index = 0;
  while (index < minimums.length && minimums[index][0] < current[0]) index += 1;
  if (index === minimums.length) return undefined;
  // An odd version has all that the following even one had at first.
  var isOdd = index > 0 && minimums[index][0] > current[0];
  if (isOdd ? minimums[index][1] === 0 : minimums[index][0] === current[0] && current[1] >= minimums[index][1])
    return undefined;
  return (
    'Terrarium needs Node ' +
    minimums[index][0] +
    '.' +
    minimums[index][1] +
    ' or newer and this is Node ' +
    version +
    ': install a newer one from https://nodejs.org and try again.'
  );
}

function numbersOf(text) {
  return text.match(/\d+/g).map(Number);
}

exports.nodeComplaint = nodeComplaint;

/* Checks the running version. */
exports.complaint = function complaint() {
  return nodeComplaint(process.versions.node, require('../package.json').engines.node);
};

/* Throws an error with the code TERRARIUM_OLD_NODE if the library is loaded by a version that is too old. */
exports.refuseOldNode = function refuseOldNode() {
  var text = exports.complaint();
  if (!text) return;
  var error = new Error(text);
  error.code = 'TERRARIUM_OLD_NODE';
  throw error;
};

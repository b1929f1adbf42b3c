/*
 * Refuses a Node that is too old, in a sentence. It comes before everything else, and so is written in words that every Node
 * can read: no arrow functions, no const.
 */
'use strict';

/*
 * One sentence when a Node is too old, else undefined.
 * version: such as `20.19.0`; range: as in package.json's engines, `>=MAJOR.MINOR`
 */
function nodeComplaint(version, range) {
  var wanted = numbersOf(range);
  var found = numbersOf(version);
  if (found[0] > wanted[0] || (found[0] === wanted[0] && found[1] >= wanted[1])) return undefined;
  return (
    'Terrarium needs Node ' +
    wanted[0] +
    '.' +
    wanted[1] +
    ' or newer and this is Node ' +
    version +
    ': install a newer one from https://nodejs.org and try again.'
  );
}

function numbersOf(text) {
  return text.match(/\d+/g).map(Number);
}

exports.nodeComplaint = nodeComplaint;

/* Complains of the Node that runs this. */
exports.complaint = function complaint() {
  return nodeComplaint(process.versions.node, require('../package.json').engines.node);
};

/* Throws where the library is loaded by a Node that is too old; the code of the error is TERRARIUM_OLD_NODE. */
exports.refuseOldNode = function refuseOldNode() {
  var text = exports.complaint();
  if (!text) return;
  var error = new Error(text);
  error.code = 'TERRARIUM_OLD_NODE';
  throw error;
};

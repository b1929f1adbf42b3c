/**
 * One sentence when this Node is too old, else undefined.
 * @param {string} version such as `20.19.0`
 * @param {string} range as in package.json's engines, `>=MAJOR.MINOR`
 */
export function nodeComplaint(version, range) {
  const [minMajor, minMinor] = numbersOf(range);
  const [major, minor] = numbersOf(version);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `Terrarium needs Node ${minMajor}.${minMinor} or newer and this is Node ${version}: install a newer one from https://nodejs.org and try again.`;
}

const numbersOf = (text) => text.match(/\d+/g).map(Number);

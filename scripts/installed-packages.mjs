import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns why the packages must be installed, as a sentence; undefined if node_modules matches package-lock.json. Compares contents, because
 * a checkout changes the times of unchanged files.
 */
export function packagesComplaint(root) {
  const installedList = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedList)) return 'the packages are not installed yet';
  const lockedPackages = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(installedList);
  const isInstalled = ([path, entry]) => {
    const found = installed[path];
    if (!found) return Boolean(entry.optional || entry.devOptional); // made for another operating system
    return found.version === entry.version && found.integrity === entry.integrity;
  };
  const differing = Object.entries(lockedPackages).filter((entry) => entry[0] !== '' && !isInstalled(entry));
  if (differing.length === 0) return undefined;
  const name = differing[0][0].replace(/^.*node_modules\//, '');
  return `the installed packages are not those of package-lock.json (${name}${differing.length > 1 ? ` and ${differing.length - 1} more` : ''})`;
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

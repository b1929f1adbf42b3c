import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { reasonOf } from '../model/errors.ts';
import { lastNameOf } from '../model/resource-path.ts';
import { UserError } from '../platform/config.ts';

/** Extensions of the files of lambdas, in the order in which they are looked for. */
export const EXTENSIONS = ['js', 'ts', 'mjs', 'cjs', 'mts', 'cts'].map((name) => `.${name}`);
export const MAIN_FILES = EXTENSIONS.map((extension) => `index${extension}`);
/** Like Node.js, it ignores members of another type. */
const member = z.string().optional().catch(undefined);
const manifestSchema = z.object({ name: member, main: member, type: member }).catch({});

/** The package.json of a folder. @throws UserError if it is damaged */
export function readManifest(folder: string): z.output<typeof manifestSchema> {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return {};
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')));
  } catch (cause) {
    throw new UserError(`${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** The file that `main` in package.json means: itself, with an extension, or a file `index` in the folder that it names. */
export function findMainFile(folder: string, main: string): string | undefined {
  const candidates = [
    main,
    ...EXTENSIONS.map((extension) => main + extension),
    ...MAIN_FILES.map((file) => posix.join(main, file)),
  ];
  return candidates
    .map((file) => posix.normalize(file.replaceAll('\\', '/')))
    .find((file) => existsSync(join(folder, file)) && statSync(join(folder, file)).isFile());
}

/** A seed of the contents of an environment. @param names of its organizations, workspace and itself, escaped as in a path */
export function seedOfEnvironment(names: readonly string[], contents: object): object {
  const [environment = '', workspace = '', ...organizations] = names.map((name) => lastNameOf(`/${name}`)).reverse();
  const world = { workspaces: { [workspace]: { environments: { [environment]: contents } } } };
  return { format: 1, ...organizations.reduce<object>((below, name) => ({ orgs: { [name]: below } }), world) };
}

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXTENSIONS, findMainFile, MAIN_FILES, readManifest, seedOfEnvironment } from '../library/lambda-project.ts';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { UserError } from '../platform/config.ts';
import { nearestFolderWith } from '../system/nearest-folder.ts';
import { type ReadSeed, readSeedFile } from './apply-command.ts';

const WORLD_FILES = ['terrarium.yaml', 'world.yaml'];
const LAMBDA_FILES = ['package.json', ...MAIN_FILES];
/** Maximum number of folders in which projects are looked for, to advise. */
const MAX_FOLDERS = 200;
/** Maximum length of the name of an organization. */
const MAX_NAME = 63;

/** A folder to develop in: with a world file, or else with the code of one lambda. */
export interface DevProject {
  folder: string;
  name: string;
  /** The world file or the main file of the lambda, relative to the folder. */
  file: string;
  /** Reads the world as a document to apply. Throws UserError or SeedError of one sentence. @param environment an existing one, for a lambda */
  read(env: Readonly<Record<string, string | undefined>>, environment?: string): Promise<ReadSeed>;
}

/** Finds the project of a named folder, or else the nearest world file from it upward, or else the nearest lambda. Throws UserError. */
export function findDevProject(start: string, isNamed: boolean): DevProject {
  if (!existsSync(start)) throw new UserError(`${start} does not exist`);
  if (statSync(start).isFile()) {
    if (!EXTENSIONS.includes(extname(start))) return worldProject(dirname(start), basename(start));
    throw new UserError(`${start} is not a world file. Name the folder of the lambda.`);
  }
  const namedProject = isNamed ? projectIn(start) : undefined;
  if (namedProject) return namedProject;
  const worldFolder = nearestFolderWith(WORLD_FILES, start);
  const lambdaFolder = worldFolder === undefined ? nearestFolderWith(LAMBDA_FILES, start) : undefined;
  const project = projectIn(worldFolder ?? lambdaFolder ?? start);
  if (project) return project;
  const expectation = `world file (${WORLD_FILES.join(', ')}) and no lambda (package.json with main, ${MAIN_FILES[0]} or ${MAIN_FILES[1]})`;
  const names = readdirSync(start).filter((name) => !name.startsWith('.') && name !== 'node_modules');
  const isProject = (name: string) =>
    [...WORLD_FILES, ...MAIN_FILES].some((file) => existsSync(join(start, name, file)));
  const below = names.slice(0, MAX_FOLDERS).filter(isProject);
  const advice = below.map((name) => `\`${SHELL_COMMAND} dev ${name}\``).join(' or ');
  throw new UserError(
    `${start} has no ${expectation}, and neither has a folder above it${advice && `. Folders in it have: ${advice}`}`,
  );
}

function projectIn(folder: string): DevProject | undefined {
  const worldFiles = WORLD_FILES.filter((file) => existsSync(join(folder, file)));
  const [worldFile, another] = worldFiles;
  if (another !== undefined)
    throw new UserError(
      `${folder} has several world files: ${worldFiles.join(', ')}. Name one, such as \`${SHELL_COMMAND} dev ${worldFile}\`.`,
    );
  return worldFile === undefined ? lambdaProject(folder) : worldProject(folder, worldFile);
}

function worldProject(folder: string, file: string): DevProject {
  const read: DevProject['read'] = (env, environment) => {
    if (environment === undefined) return readSeedFile(join(folder, file), env);
    throw new UserError(
      `${join(folder, file)} names the environments of its lambdas. Leave out --environment, or name the folder of one lambda.`,
    );
  };
  return { folder, name: basename(folder), file, read };
}

function lambdaProject(folder: string): DevProject | undefined {
  const lambda = lambdaIn(folder);
  if (!lambda) return undefined;
  const { name } = lambda;
  const read: DevProject['read'] = async (_env, environment) => {
    // Loaded only now: no other command needs it.
    const { readEnvFile } = await import('../platform/seed-files.ts');
    // package.json can name another main file than at the start.
    const { file } = lambdaIn(folder) ?? lambda;
    const resources = lambdaWithEndpoint(name, folder, `${file};run`, await readEnvFile(folder));
    const document =
      environment === undefined
        ? seedOfEnvironment([name, 'local', 'dev'], { properties: { environment_type: 'development' }, ...resources })
        : seedOfEnvironment(environmentNames(environment), resources);
    return { type: 'application/json', content: JSON.stringify(document) };
  };
  return { folder, ...lambda, read };
}

/** The name and the main file of the lambda whose code is in a folder. */
function lambdaIn(folder: string): Pick<DevProject, 'name' | 'file'> | undefined {
  const manifest = readManifest(folder);
  const file = findMainFile(folder, manifest.main ?? '');
  if (file === undefined && manifest.main !== undefined)
    throw new UserError(
      `${join(folder, manifest.main)} does not exist, but package.json names it as main. Build it, or correct main.`,
    );
  if (file === undefined) return undefined;
  const written = (manifest.name ?? basename(folder)).replace(/^.*\//, '');
  // An organization has this name.
  const name = written
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME)
    .replaceAll(/^-|-$/g, '');
  return { name: name || 'lambda', file };
}

/** A lambda and its endpoint `/web/NAME`. */
function lambdaWithEndpoint(name: string, folder: string, handler: string, env: object) {
  const properties = {
    ...{ provider: { id: 'default-lambda' }, runtime: 'nodejs', code_type: 'package', handler, env },
    package_url: pathToFileURL(folder).href,
  };
  const endpoint = { resource: `/${name}`, implementation_type: 'lambda', implementation_id: name };
  const web = {
    properties: { provider: { id: 'default-gateway-manager', locations: ['default-gateway'] } },
    apiendpoints: { [name]: { properties: endpoint } },
  };
  return { lambdas: { [name]: { properties } }, apis: { web } };
}

/** The names in a path of an environment such as `/demo/website/development`. */
function environmentNames(path: string): string[] {
  const names = path.split('/').filter(Boolean);
  if (names.length > 2) return names;
  throw new UserError(`'${path}' is not the path of an environment, such as /demo/website/development`);
}

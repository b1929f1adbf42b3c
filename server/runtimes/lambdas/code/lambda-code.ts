import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { removeIfPossible } from '../../../system/files-in-use.ts';
import { nearestFolderWith } from '../../../system/nearest-folder.ts';
import { type Owner, ownerHere } from '../../../system/owner.ts';
import { makeTemporaryNow, removeAbandoned, systemTemporary, withoutLinks } from '../../../system/temporary.ts';
import { SYSTEM } from '../../../system/this-system.ts';
import { writeWholeSync } from '../../../system/write-whole.ts';
import type { LambdaDefinition } from '../lambda-definition.ts';
import { LambdaFailure } from '../lambda-failure.ts';
import { type PackageFiles, type PackageSource, PackageStore, stopModuleLookup } from './package-store.ts';

const PLUG_AND_PLAY = '.pnp.cjs';

/** Its `folder` is the working folder: that of its package (D-057), or its HOME. */
interface Module extends Omit<PackageFiles, 'onlyFile'> {
  file: string;
  exportName: string;
  /** The `node_modules` of `modules`, where Node does not find it above the code. */
  modules?: string;
  /** The file with which Yarn replaces `node_modules` in the project of a linked folder. */
  plugAndPlay?: string;
}

export interface PreparedCode extends Module {
  home: string;
  temporaryFolder: string;
  /** Ends the use of the files; call it once, when no process needs them any more. */
  release(): void;
}

type OwnFiles = Pick<PreparedCode, 'home' | 'file'>;

/**
 * Code, packages and secret files, where processes can load them. Each version of the files has a folder of its own, because older processes may
 * still work; it is removed once no process uses it. Definitions that differ in variables only share one.
 */
export class LambdaCode {
  readonly #folder: string;
  readonly #shelves: string[];
  readonly #modules: string | undefined;
  readonly #check: () => void;
  readonly #packages: PackageStore;
  readonly #temporary: TemporaryFolders;
  readonly #prepared = new Map<string, { folder: string; ownFiles: Promise<OwnFiles> }>();
  /** The number of processes that use a folder, and removals of folders under way. */
  readonly #uses = new Map<string, number>();
  readonly #folderRemovals = new Map<string, Promise<void>>();
  /** The last removal, and the removals by lambda: a lambda that is restored must not lose its new files to the removal of the old ones. */
  #lastRemoval: Promise<void> = Promise.resolve();
  readonly #removals = new Map<string, Promise<void>>();
  readonly #underWay = new Set<Promise<unknown>>();
  #cleared: Promise<void> | undefined;

  /**
   * `folder`: absolute path. `check` throws while nothing in it may be touched. `modules`: a folder in which `npm install` was run;
   * what is installed there every lambda can load.
   */
  constructor(
    folder: string,
    steadyMs: () => number,
    check: () => void = () => {},
    modules?: string,
    linkLocalHosts?: readonly string[],
  ) {
    this.#check = check;
    this.#temporary = new TemporaryFolders(check, folder);
    this.#shelves = [path.join(folder, 'lambdas'), path.join(folder, 'packages')];
    this.#modules = modules === undefined ? undefined : path.resolve(modules, 'node_modules');
    this.#folder = path.join(folder, 'lambdas');
    this.#packages = new PackageStore({ folder: path.join(folder, 'packages'), steadyMs, check, linkLocalHosts });
  }

  clear(): Promise<void> {
    this.#cleared ??= this.#track(this.#clear());
    return this.#cleared;
  }

  async #clear(): Promise<void> {
    // A process of an earlier run may still use its folder. Then the files in it are replaced as they are needed.
    await removeIfPossible(this.#folder);
    for (const shelf of this.#shelves) {
      // Node looks for modules in each folder above the code: here it finds them, in either kind of module.
      const link = path.join(shelf, 'node_modules');
      await rm(link, { force: true });
      if (this.#modules === undefined) continue;
      await mkdir(shelf, { recursive: true, mode: 0o700 });
      await symlink(this.#modules, link, 'junction');
    }
    await this.#packages.open();
    await this.#temporary.clear();
  }

  /** Prepares the code for a process: once per definition; a package is checked each time (D-057). Rejects with LambdaFailure `load`. */
  async prepare(definition: LambdaDefinition): Promise<PreparedCode> {
    const folder = this.#folderOf(definition);
    this.#uses.set(folder, (this.#uses.get(folder) ?? 0) + 1);
    const release = () => this.#release(definition.id, folder);
    try {
      const { home, file } = await this.#ownFiles(definition, folder);
      const { id, code, handler } = definition;
      const module =
        code.kind === 'package'
          ? await this.#track(this.#findInPackage(id, code, handler))
          : { file, exportName: handler, folder: home, revision: '' };
      return { ...module, home, temporaryFolder: this.#temporary.provide(id), release };
    } catch (failure) {
      release();
      throw failure;
    }
  }

  #folderOf({ id, code, secretFiles }: LambdaDefinition): string {
    const content = JSON.stringify([code.kind === 'inline' ? code.text : null, secretFiles]);
    return path.join(this.#folder, id, createHash('sha256').update(content).digest('hex').slice(0, 16));
  }

  #release(id: string, folder: string): void {
    const uses = (this.#uses.get(folder) ?? 1) - 1;
    if (uses > 0) this.#uses.set(folder, uses);
    else {
      this.#uses.delete(folder);
      this.#removeIfUnused(id, folder);
    }
  }

  #removeIfUnused(id: string, folder: string): void {
    if (this.#uses.has(folder) || this.#prepared.get(id)?.folder === folder) return;
    const remove = async () => {
      await this.#folderRemovals.get(folder);
      this.#check();
      await removeIfPossible(folder);
    };
    const removal = this.#track(remove().catch(() => undefined)); // what is left is removed at the next start
    this.#folderRemovals.set(folder, removal);
    void removal.then(() => {
      if (this.#folderRemovals.get(folder) === removal) this.#folderRemovals.delete(folder);
    });
  }

  #ownFiles(definition: LambdaDefinition, folder: string): Promise<OwnFiles> {
    const { id } = definition;
    const prepared = this.#prepared.get(id);
    if (prepared?.folder === folder) return prepared.ownFiles;
    const ownFiles = this.#track(this.#write(definition, folder)).catch((thrown: unknown) => {
      if (this.#prepared.get(id)?.ownFiles === ownFiles) this.#prepared.delete(id);
      if (thrown instanceof LambdaFailure) throw thrown;
      // Only its code: the message names folders of this machine, and goes to the caller.
      const reason = thrown instanceof Error && 'code' in thrown ? thrown.code : thrown;
      throw new LambdaFailure('load', `the lambda's files cannot be written: ${reason}`, { cause: thrown });
    });
    this.#prepared.set(id, { folder, ownFiles });
    if (prepared) this.#removeIfUnused(id, prepared.folder);
    return ownFiles;
  }

  async forget(id: string): Promise<void> {
    this.#prepared.delete(id);
    const remove = async (): Promise<void> => {
      this.#check();
      await this.#packages.forget(id);
      await this.#temporary.forget(id);
      await removeIfPossible(path.join(this.#folder, id));
    };
    // One after the other: thousands can be deleted at once.
    this.#lastRemoval = this.#lastRemoval.then(remove, remove);
    const removal = this.#track(this.#lastRemoval);
    this.#removals.set(id, removal);
    await removal.finally(() => this.#removals.delete(id));
  }

  /** Gives up what is being fetched. Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.#packages.stop();
    await Promise.allSettled(this.#underWay);
    await this.#temporary.stop();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const done = (): void => void this.#underWay.delete(work);
    this.#underWay.add(work);
    work.then(done, done);
    return work;
  }

  async #write(definition: LambdaDefinition, folder: string): Promise<OwnFiles> {
    const home = path.join(folder, 'home');
    await this.clear();
    await this.#removals.get(definition.id)?.catch(() => {});
    await this.#folderRemovals.get(folder);
    this.#check();
    // At once: a call waits for these few small files, and each step aside is a turn of the threads that do them.
    mkdirSync(home, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(definition.secretFiles)) writeSecret(home, name, text);
    const file = definition.code.kind === 'inline' ? writeSource(folder, definition.code.text) : '';
    return { home, file };
  }

  async #findInPackage(id: string, source: PackageSource, handler: string): Promise<Module> {
    const { folder: found, onlyFile: singleFileName, ...rest } = await this.#packages.provide(id, source);
    // As Node names what it loads.
    const [root, onlyFile] = [
      withoutLinks(found),
      singleFileName === undefined ? undefined : withoutLinks(singleFileName),
    ];
    const { file: name, exportName } = parseHandler(handler);
    const folders = onlyFile === undefined ? [root, ...onlyFolderIn(root)] : [root];
    const folder = folders.find((candidate) => findModule(candidate, name)) ?? root;
    const file = onlyFile ?? findModule(folder, name);
    if (!file) {
      const other = ['', 'src', 'dist', 'lib'].find((sourceFolder) =>
        findModule(path.join(folder, sourceFolder), path.basename(name)),
      );
      const instead =
        other === undefined
          ? ''
          : `; write in the lambda's property 'handler': ${path.posix.join(other, path.basename(name))}.${exportName}`;
      throw new LambdaFailure('load', `handler '${handler}': package ${source.url} has no file '${name}'${instead}`);
    }
    const isElsewhere = !this.#shelves.some((shelf) => file.startsWith(shelf + path.sep));
    const module = { file, exportName, folder, ...rest };
    if (!isElsewhere) return module;
    const project = nearestFolderWith([PLUG_AND_PLAY], folder);
    return {
      ...module,
      ...(this.#modules && { modules: this.#modules }),
      ...(project !== undefined && { plugAndPlay: path.join(project, PLUG_AND_PLAY) }),
    };
  }
}

function writeSource(folder: string, text: string): string {
  stopModuleLookup(folder);
  const file = path.join(folder, 'index.js');
  // In one step: a process may be loading the same file, when a lambda's old definition has come back.
  writeWholeSync(file, text);
  return file;
}

/** `file.func`, `file.js;func`, `file;func`; a bare name is a function of index.js (D-056). */
export function parseHandler(handler: string): { file: string; exportName: string } {
  const at = handler.includes(';') ? handler.lastIndexOf(';') : handler.lastIndexOf('.');
  return at < 0
    ? { file: 'index', exportName: handler }
    : { file: handler.slice(0, at), exportName: handler.slice(at + 1) };
}

/** Archives of code hosts contain everything in one folder. */
function onlyFolderIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'package.json');
  const [onlyEntry, ...otherEntries] = entries;
  return onlyEntry?.isDirectory() && otherEntries.length === 0 ? [path.join(folder, onlyEntry.name)] : [];
}

function findModule(folder: string, name: string): string | undefined {
  return ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
    .map((extension) => inside(folder, name + extension))
    .find((file) => file && statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** The path below the folder, or undefined when the name leads out of it. */
function inside(folder: string, name: string): string | undefined {
  const file = path.join(folder, name);
  return file.startsWith(path.join(folder, path.sep)) ? file : undefined;
}

/** The path of a mounted file is relative to the lambda's home, because a lambda has no file system of its own. */
function writeSecret(home: string, name: string, text: string): void {
  const file = inside(home, name);
  if (!file) throw new LambdaFailure('load', `secret path '${name}' leads out of the lambda's folder`);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}

/** Programs put Unix sockets into it, whose paths end at 104 characters (D-113). */
const LONGEST = 60;
const KIND = 'tmp';
/** The maximum length of the suffix of `mkdtemp` and the number of a folder. */
const LONGEST_REST = `${path.sep}terrarium-${KIND}-XXXXXX${path.sep}999999`.length;

/** TMPDIR of each lambda: short, readable by its owner only, and removed with the lambda, at the stop, or at a later start. */
export class TemporaryFolders {
  readonly #above: string;
  readonly #check: () => void;
  #folder: string | undefined;
  readonly #names = new Map<string, string>();
  #count = 0;
  #owner: Owner | undefined;
  readonly #fallback: string;

  /** In `fallback`, a folder of the platform's own, where the system's folder cannot be written. */
  constructor(check: () => void, fallback: string, systemFolder = systemTemporary()) {
    this.#fallback = fallback;
    const isLong = SYSTEM !== 'win32' && systemFolder.length + LONGEST_REST > LONGEST;
    this.#above = isLong ? withoutLinks('/tmp') : systemFolder;
    this.#check = check;
  }

  /** The folder of a lambda, made when it is missing: what cleans up the system's folder may have removed it. */
  provide(lambdaId: string): string {
    const name = this.#names.get(lambdaId) ?? String(++this.#count);
    this.#names.set(lambdaId, name);
    const folder = path.join(this.#parentFolder(), name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async forget(lambdaId: string): Promise<void> {
    const name = this.#names.get(lambdaId);
    this.#names.delete(lambdaId);
    if (this.#folder !== undefined && name !== undefined) await removeIfPossible(path.join(this.#folder, name));
  }

  async clear(): Promise<void> {
    for (const above of new Set([systemTemporary(), this.#above, this.#fallback])) await removeAbandoned(above);
    this.#owner = await ownerHere(undefined);
  }

  async stop(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await removeIfPossible(folder);
  }

  #parentFolder(): string {
    if (this.#folder !== undefined) return this.#folder;
    this.#check();
    if (!this.#owner) throw new Error('temporary folders are used before `clear`');
    try {
      this.#folder = makeTemporaryNow(KIND, this.#owner, this.#above);
    } catch {
      // The system's folder cannot be written, as in a container that is read-only.
      mkdirSync(this.#fallback, { recursive: true });
      this.#folder = makeTemporaryNow(KIND, this.#owner, this.#fallback);
    }
    return this.#folder;
  }
}

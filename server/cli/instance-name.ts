import { UserError } from '../platform/config.ts';
import { text } from './command.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/i;

/** Folder of the named instances' data folders, relative to the working directory. */
const FOLDER = '.terrarium/instances';

export const folderOptions = {
  data: text('--data <DIR>', 'data folder of the platform (default: .terrarium; TERRARIUM_DATA)'),
  instance: text('--instance <NAME>', `name of one of several instances; its data folder is ${FOLDER}/NAME`),
};

/**
 * The data folder of the instance that `--instance` names, relative to the working directory; undefined without it.
 *
 * @throws UserError if the name is not valid, or --data is also given
 */
export function namedFolder({ instance: name, data }: { instance?: unknown; data?: unknown }): string | undefined {
  if (typeof name !== 'string') return undefined;
  if (!NAME.test(name)) {
    throw new UserError(
      `--instance is "${name}"; it must be up to 63 letters, digits, _ or -, and not begin with _ or -`,
    );
  }
  if (data !== undefined) throw new UserError('--instance and --data both select a data folder. Use only one of them.');
  return `${FOLDER}/${name}`;
}

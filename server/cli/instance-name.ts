import { type Command, Option } from 'commander';
import { UserError } from '../config.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/i;

/** Where named instances keep their worlds, below the working directory. */
const FOLDER = '.terrarium/instances';

/** The option that names one of several instances. */
export function addInstanceOption(command: Command): Command {
  return command.addOption(
    new Option('--instance <NAME>', `one of several side by side: its data folder is ${FOLDER}/NAME`),
  );
}

/**
 * The data folder of the instance that the command's options name, relative to the working directory; undefined when they
 * name none.
 *
 * @throws UserError for what is no name, and beside --data
 */
export function namedFolder(command: Command): string | undefined {
  const name: unknown = command.getOptionValue('instance');
  if (typeof name !== 'string') return undefined;
  if (!NAME.test(name)) {
    throw new UserError(
      `--instance is "${name}"; it has to be up to 63 letters, digits, _ or -, not beginning with _ or -`,
    );
  }
  if (command.getOptionValue('data') !== undefined) {
    throw new UserError('--instance and --data both name a data folder: give one of them');
  }
  return `${FOLDER}/${name}`;
}

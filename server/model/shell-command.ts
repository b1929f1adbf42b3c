/** The command as every reader of a message can type it: the npm package named `terrarium` is unrelated, and only the image has it on its PATH. */
export const SHELL_COMMAND = 'npx terrarium-emulator';

/** A text as one word of a command in a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w%+=:@,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

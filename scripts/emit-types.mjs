import { dirname } from 'node:path';
import ts from 'typescript';

/**
 * Writes the declarations of a module, and of all it refers to, for those who use the package as a library.
 * @param {{entry: string, outFolder: string}} options `outFolder` mirrors the folders of the whole project
 * @throws when TypeScript finds an error
 */
export function emitTypes({ entry, outFolder }) {
  const configFile = ts.findConfigFile(dirname(entry), ts.sys.fileExists, 'tsconfig.json');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configFile, ts.sys.readFile).config,
    ts.sys,
    dirname(configFile),
  );
  const program = ts.createProgram([entry], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: dirname(configFile),
    outDir: outFolder,
  });
  const { diagnostics } = program.emit();
  const errors = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (errors.length > 0) {
    throw new Error(
      ts.formatDiagnostics(errors, {
        getCanonicalFileName: (name) => name,
        getCurrentDirectory: () => dirname(configFile),
        getNewLine: () => '\n',
      }),
    );
  }
}

// Bundles the client of container engines without unused parts, and with ssh as a separate chunk.
import { createRequire } from 'node:module';
import { bundle } from './bundle.mjs';

/** Beside the server's other parts, and loaded when the address of an engine begins with `ssh://`. */
const SSH_PART = 'ssh.cjs';

/** Compiled for one machine; ssh2 works without them. */
const NATIVE = ['cpu-features', /[.]node$/];

const FILE = /[\\/]node_modules[\\/](dockerode|docker-modem)[\\/]lib[\\/](\w+)[.]js$/;

/** Sessions and progress of BuildKit, by gRPC and protobuf: 60 packages. Images are built by `docker build` itself. */
const LEFT_OUT = ['dockerode/session', 'dockerode/buildkit'];
const REFUSAL = `module.exports = () => { throw new Error('BuildKit is not part of this bundle: build images with \`docker build\`'); };`;

const SSH_IMPORT = /^var Client = require\('ssh2'\)[.]Client,\n {2}http = require\('http'\);/;
const SSH_ON_DEMAND = `var http = require('http');\nfunction Client() { return new (require('./${SSH_PART}').Client)(); }`;

/** A rolldown plugin that leaves out of dockerode and docker-modem what Terrarium does not use. */
export function enginePartsPlugin() {
  return {
    name: 'engine-parts',
    enforce: 'pre',
    resolveId(source) {
      return source === `./${SSH_PART}` ? { id: source, external: true } : undefined;
    },
    transform(code, id) {
      const [, name, file] = FILE.exec(id) ?? [];
      if (LEFT_OUT.includes(`${name}/${file}`)) return unmapped(REFUSAL);
      if (name !== 'docker-modem' || file !== 'ssh') return undefined;
      if (!SSH_IMPORT.test(code)) throw new Error(`${id} has changed: look how it loads ssh2 now`);
      return unmapped(code.replace(SSH_IMPORT, SSH_ON_DEMAND));
    },
  };
}

const unmapped = (code) => ({ code, map: { mappings: '' } });

/** Writes the part that speaks ssh, as one CommonJS file. */
export async function buildSsh({ outDir, licenses }) {
  await bundle({
    // The version that docker-modem uses.
    input: createRequire(createRequire(import.meta.resolve('dockerode')).resolve('docker-modem')).resolve('ssh2'),
    outDir,
    plugins: [licenses.plugin],
    external: NATIVE,
    output: { format: 'cjs', entryFileNames: SSH_PART, codeSplitting: false },
  });
}

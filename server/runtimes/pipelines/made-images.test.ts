import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { extract, type Header, pack } from 'tar-stream';
import { expect, it } from 'vitest';
import { copyArchive } from './made-images.ts';

type File = [name: string, content: string, header?: Partial<Header>];

const manifestOf = (...tags: string[]) =>
  JSON.stringify([{ Config: 'c.json', RepoTags: tags, Layers: ['l/layer.tar'] }]);
const LAYER: File = ['l/layer.tar', 'layer'];

async function archiveOf(files: File[]): Promise<Buffer> {
  const archive = pack();
  for (const [name, content, header] of files) archive.entry({ name, ...header }, content);
  archive.finalize();
  return buffer(archive);
}

/** Copies an archive of these files; resolves to the files of the copy. Names that begin with `base` are refused. */
async function copied(files: File[], compress = (archive: Buffer) => archive): Promise<Record<string, string>> {
  const target = new PassThrough();
  const copy = buffer(target);
  copy.catch(() => undefined);
  const chunks = Array.from(compress(await archiveOf(files)), (byte) => Buffer.from([byte]));
  await copyArchive(Readable.from(chunks, { objectMode: false }), target, (name) =>
    name.startsWith('base') ? Promise.reject(new Error(`refused ${name}`)) : Promise.resolve(),
  );
  const entries = extract();
  entries.end(await copy);
  const read: Record<string, string> = {};
  for await (const entry of entries) read[entry.header.name] = (await buffer(entry)).toString();
  return read;
}

it('an archive of images is copied with its layers and names, also a compressed one', async () => {
  const files: File[] = [['l/', '', { type: 'directory' }], LAYER, ['manifest.json', manifestOf('app:1')]];
  const expected = { 'l/': '', 'l/layer.tar': 'layer', 'manifest.json': manifestOf('app:1') };
  expect(await copied(files)).toEqual(expected);
  expect(await copied(files, gzipSync)).toEqual(expected);
});

it.each<[string, File[]]>([
  ['in its manifest', [LAYER, ['manifest.json', manifestOf('app:1', 'base:1')]]],
  [
    'in a manifest before another',
    [
      ['manifest.json', manifestOf('base:1')],
      ['manifest.json', manifestOf('app:1')],
    ],
  ],
  ['in a manifest with another path', [['./x/.././/manifest.json', manifestOf('base:1')]]],
  ['in a manifest below a link', [['x/layer.tar/manifest.json', manifestOf('base:1')]]],
  ['in the older list of names', [['repositories', '{"base":{"1":"l"}}']]],
  [
    'in its index',
    [
      [
        'index.json',
        '{"schemaVersion":2,"manifests":[{"digest":"d","size":1,"annotations":{"io.containerd.image.name":"base:1"}}]}',
      ],
    ],
  ],
])('an archive with the name of an image of others is refused: %s', async (_title, files) => {
  await expect(copied(files)).rejects.toThrow('refused base:1');
});

it.each<[string, File]>([
  ['a manifest that is a link', ['manifest.json', '', { type: 'symlink', linkname: 'other.json' }]],
  ['a hard link', ['l/layer.tar', '', { type: 'link', linkname: 'manifest.json' }]],
  ['a file that is a link', ['other', '', { type: 'symlink', linkname: 'manifest.json' }]],
  ['a path out of the archive', ['../manifest.json', manifestOf('base:1')]],
  ['a name that ends early', ['manifest.json\0x', manifestOf('base:1'), { pax: { path: 'manifest.json\0x' } }]],
  ['a manifest that is not JSON', ['manifest.json', 'text']],
  ['a manifest of another form', ['manifest.json', '{}']],
])('an archive with %s is refused', async (_title, file) => {
  await expect(copied([LAYER, file])).rejects.toThrow(/jobs cannot load an archive|refused/);
});

it('members of a manifest that the engine would read in another case are left out', async () => {
  const manifestText = manifestOf('app:1').replace('}', ',"repotags":["base:1"]}');
  expect(await copied([LAYER, ['manifest.json', manifestText]])).toMatchObject({
    'manifest.json': manifestOf('app:1'),
  });
});

import { crc32, deflateRawSync } from 'node:zlib';

/** Creates a ZIP archive with any names and, if needed, false sizes and Unix modes, also such as no tool would create. */
export function zipOf(
  files: Record<string, string>,
  declaredBytes?: number,
  modes: Record<string, number> = {},
): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const raw = Buffer.from(text);
    const packed = deflateRawSync(raw);
    const size = declaredBytes ?? raw.length;
    // Version, flags (UTF-8 names), deflate, time, date, CRC, sizes, length of the name, no extra field.
    const common = [u16(20), u16(0x800), u16(8), u16(0), u16(0x21), u32(crc32(raw)), u32(packed.length), u32(size)];
    const bytes = Buffer.from(name);
    const header = Buffer.concat([u32(0x04034b50), ...common, u16(bytes.length), u16(0), bytes]);
    local.push(header, packed);
    // Comment, disk, internal attributes: none; then the mode and the offset of the entry.
    const mode = u32(((modes[name] ?? 0) << 16) >>> 0);
    const rest = [u16(bytes.length), u16(0), u16(0), u16(0), u16(0), mode, u32(offset), bytes];
    central.push(Buffer.concat([u32(0x02014b50), u16(20), ...common, ...rest]));
    offset += header.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const count = u16(central.length);
  const end = [u32(0x06054b50), u16(0), u16(0), count, count, u32(directory.length), u32(offset), u16(0)];
  return Buffer.concat([...local, directory, ...end]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

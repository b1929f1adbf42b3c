import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/*
 * A certificate that is its own issuer, in DER (X.690) as RFC 5280 says. `node:crypto` reads such and makes none; the libraries that
 * make them take longer to load than everything else that the first start of a platform does.
 */

/** Tags of DER; bit 6 marks what has parts. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8: 0x0c,
  shortTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  ipAddress: 0x87,
} as const;
/** Of a structure's own members, by their number. */
const ofNumber = (number: number) => 0xa0 + number;

/** Object identifiers, encoded. */
const OID = {
  commonName: '550403',
  ecdsaWithSha256: '2a8648ce3d040302',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  subjectAltName: '551d11',
  serverAuth: '2b06010505070301',
} as const;

/** What a certificate is for. */
export interface SelfSigned {
  /** Who it says it is. */
  commonName: string;
  /** Names and addresses of the host that has it. */
  dnsNames: readonly string[];
  /** The four or sixteen bytes of each. */
  ipAddresses: readonly Uint8Array[];
  /** Epoch milliseconds. */
  fromMs: number;
  untilMs: number;
}

/** Makes a key (P-256) and the certificate of a server that has it, both in PEM. */
export function selfSigned(wish: SelfSigned): { keyPem: string; certPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const who = sequence(der(TAG.set, sequence(objectId(OID.commonName), der(TAG.utf8, Buffer.from(wish.commonName)))));
  const told = sequence(
    der(ofNumber(0), der(TAG.integer, Buffer.of(2))), // version 3
    der(TAG.integer, serialNumber()),
    algorithm,
    who,
    sequence(time(wish.fromMs), time(wish.untilMs)),
    who,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(ofNumber(3), sequence(...extensions(wish))),
  );
  const signature = sign('sha256', told, privateKey);
  const certificate = sequence(told, algorithm, bits(signature, 0));
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    keyPem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })).trim(),
    certPem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----`,
  };
}

function extensions({ dnsNames, ipAddresses }: SelfSigned): Buffer[] {
  const names = [
    ...dnsNames.map((name) => der(TAG.dnsName, Buffer.from(name))),
    ...ipAddresses.map((ip) => der(TAG.ipAddress, ip)),
  ];
  return [
    extension(OID.basicConstraints, true, sequence()),
    // The first bit: it signs, and seven bits are not used.
    extension(OID.keyUsage, true, bits(Buffer.of(0x80), 7)),
    extension(OID.extendedKeyUsage, false, sequence(objectId(OID.serverAuth))),
    extension(OID.subjectAltName, false, sequence(...names)),
  ];
}

function extension(id: string, isCritical: boolean, value: Uint8Array): Buffer {
  const critical = isCritical ? [der(TAG.boolean, Buffer.of(0xff))] : [];
  return sequence(objectId(id), ...critical, der(TAG.octetString, value));
}

/** Random, positive, and of full length: its first bits are 01. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function objectId(hex: string): Buffer {
  return der(TAG.objectId, Buffer.from(hex, 'hex'));
}

/** Until 2049 such as `260115000000Z`, then with four digits of the year (RFC 5280, 4.1.2.5). */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '');
  return digits < '2050' ? der(TAG.shortTime, Buffer.from(digits.slice(2))) : der(TAG.time, Buffer.from(digits));
}

function bits(value: Uint8Array, unused: number): Buffer {
  return der(TAG.bitString, Buffer.concat([Buffer.of(unused), value]));
}

function sequence(...parts: Uint8Array[]): Buffer {
  return der(TAG.sequence, Buffer.concat(parts));
}

function der(tag: number, value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(value.length), value]);
}

/** Up to 127 in one byte, else the number of bytes and then those. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes]);
}

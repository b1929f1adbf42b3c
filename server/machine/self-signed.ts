import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A TLS key pair in PEM; the certificate is its own issuer, so it is also what a client has to trust. */
export interface Certificate {
  keyPem: string;
  certPem: string;
}

/** What a certificate says. */
export interface CertificateFacts {
  /** Of its owner, who is its issuer; ASCII. */
  commonName: string;
  hosts: readonly string[];
  /** The addresses that it is for, as their 4 or 16 bytes. */
  addresses: readonly Uint8Array[];
  /** Epoch milliseconds. */
  fromMs: number;
  untilMs: number;
}

/** Tags of DER (X.690, 8.1.2); what is constructed has the bit 0x20, what is the context's own has 0x80. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  oid: 0x06,
  text: 0x0c,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
/** Object identifiers, written out: ecdsa-with-SHA256, commonName, the extensions of RFC 5280 (4.2.1), serverAuth. */
const OID = {
  ecdsaSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  alternativeNames: '551d11',
  serverAuth: '2b06010505070301',
} as const;
const SERIAL_BYTES = 16;
const LINE_CHARACTERS = 64;
/** From then on a year has four digits (RFC 5280, 4.1.2.5). */
const FOUR_DIGITS_FROM = 2050;

/**
 * A certificate for a server (RFC 5280) with a new key on P-256, signed by that key. Written here because `node:crypto` makes keys
 * and signatures, but no certificates, and a package that does takes longer to load than all else of a first start.
 */
export function selfSigned({ commonName, hosts, addresses, fromMs, untilMs }: CertificateFacts): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(OID.ecdsaSha256));
  const name = sequence(der(TAG.set, sequence(oid(OID.commonName), der(TAG.text, Buffer.from(commonName)))));
  const names = [
    ...hosts.map((host) => der(0x82, Buffer.from(host, 'ascii'))),
    ...addresses.map((address) => der(0x87, address)),
  ];
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40; // positive, and as long as it looks
  const told = sequence(
    der(0xa0, der(TAG.integer, Uint8Array.of(2))), // version 3
    der(TAG.integer, serial),
    algorithm,
    name,
    sequence(time(fromMs), time(untilMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(OID.basicConstraints, true, sequence()), // signs nobody else
        extension(OID.keyUsage, true, bits(Uint8Array.of(0x80), 7)), // digitalSignature
        extension(OID.extendedKeyUsage, false, sequence(oid(OID.serverAuth))),
        extension(OID.alternativeNames, false, sequence(...names)),
      ),
    ),
  );
  const certificate = sequence(told, algorithm, bits(sign('sha256', told, privateKey)));
  return {
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim(),
    certPem: pem('CERTIFICATE', certificate),
  };
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.of(tag, ...size), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts);
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, 'hex'));
}

function bits(bytes: Uint8Array, unused = 0): Buffer {
  return der(TAG.bits, Uint8Array.of(unused), bytes);
}

function extension(id: string, isCritical: boolean, value: Uint8Array): Buffer {
  const critical = isCritical ? [der(TAG.boolean, Uint8Array.of(0xff))] : [];
  return sequence(oid(id), ...critical, der(TAG.bytes, value));
}

function time(atMs: number): Buffer {
  const digits = `${new Date(atMs).toISOString().replace(/[-:T]|\.\d+/g, '')}`;
  const isLong = new Date(atMs).getUTCFullYear() >= FOUR_DIGITS_FROM;
  return isLong ? der(TAG.time, Buffer.from(digits)) : der(TAG.utcTime, Buffer.from(digits.slice(2)));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n');
}

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '../machine/write-whole.ts';

/** A TLS key pair in PEM; the certificate is its own issuer, so it is also what a client has to trust. */
export interface Certificate {
  keyPem: string;
  certPem: string;
}

export interface CertificateOptions {
  /** Data folder, which has to be there; absent: nothing is written, and each call makes a new certificate. */
  dir?: string;
  /** Clock, epoch milliseconds. */
  nowMs(): number;
  /** Throws while nothing in the folder may be touched. */
  check(): void;
  /** Told when a file on disk had to be replaced because it was damaged, or could not be written. */
  warn(message: string): void;
}

const FILE_NAME = 'crm-certificate.pem';
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 365 * DAY_MS;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** So that a client whose clock is a little behind accepts it too. */
const BACKDATE_MS = DAY_MS;
/** PEM blocks; key and certificate share one file so that one never survives without the other. */
const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** The one in the data folder; undefined when there is none, when it ends within 30 days, or when the file is damaged. */
export async function keptCertificate(options: CertificateOptions): Promise<Certificate | undefined> {
  if (options.dir === undefined) return undefined;
  const file = path.join(options.dir, FILE_NAME);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`cannot read the certificate ${file}: ${error.message}`, { cause: error });
  });
  if (text === undefined) return undefined;
  const kept = parseCertificate(text);
  if (!kept)
    options.warn(`${file} is damaged and was replaced; clients that trusted the old certificate must reload it`);
  return kept && isFresh(kept, options.nowMs()) ? kept : undefined;
}

/** Keeps it in a data folder. One that is gone is not made anew: rejects then. */
export async function keepCertificate(dir: string, { keyPem, certPem }: Certificate): Promise<void> {
  await writeWhole(path.join(dir, FILE_NAME), `${certPem}\n${keyPem}\n`);
}

/** Both halves of the file, or undefined unless they are there and belong together. */
function parseCertificate(text: string): Certificate | undefined {
  const blocks = [...text.matchAll(PEM_BLOCK)];
  const certPem = blocks.find(([, label]) => label === 'CERTIFICATE')?.[0];
  const keyPem = blocks.find(([, label]) => label === 'PRIVATE KEY')?.[0];
  if (!certPem || !keyPem) return undefined;
  try {
    return new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)) ? { certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

function isFresh({ certPem }: Certificate, nowMs: number): boolean {
  const { validFrom, validTo } = new X509Certificate(certPem);
  return Date.parse(validFrom) <= nowMs && nowMs < Date.parse(validTo) - RENEW_BEFORE_MS;
}

/** A new one, valid for localhost, 127.0.0.1 and ::1. */
export async function makeCertificate(nowMs: number): Promise<Certificate> {
  // Loaded only here: most starts find their certificate on disk.
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'Terrarium CRM stand-in' }], {
    keyType: 'ec', // an RSA key takes many times longer to find
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - BACKDATE_MS),
    notAfterDate: new Date(nowMs + LIFETIME_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { keyPem: made.private.trim(), certPem: made.cert.trim() };
}

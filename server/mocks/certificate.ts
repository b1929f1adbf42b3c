import { createPrivateKey, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { readWholeFile } from '../storage/files/read-file.ts';
import { writeWhole } from '../system/write-whole.ts';

/** A TLS key pair in PEM. The certificate is self-signed, so clients must trust the certificate itself. */
export interface Certificate {
  keyPem: string;
  certPem: string;
}

export interface CertificateOptions {
  /** Data folder, which must exist; absent: nothing is written, and each call makes a new certificate. */
  dir?: string;
  /** Clock of the programs that check it, epoch milliseconds. */
  nowMs(): number;
  /** Throws while nothing in the folder may be changed. */
  check(): void;
  /** Called when a damaged file on disk was replaced, or a file could not be written. */
  warn(message: string): void;
}

const FILE_NAME = 'crm-certificate.pem';
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 365 * DAY_MS;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** So that a client whose clock is a little behind accepts it too. */
const BACKDATE_MS = DAY_MS;
/** PEM blocks; key and certificate share one file so that neither exists without the other. */
const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** The certificate in the data folder; undefined if it is missing or damaged, or expires within 30 days. */
export async function keptCertificate(options: CertificateOptions): Promise<Certificate | undefined> {
  if (options.dir === undefined) return undefined;
  const file = path.join(options.dir, FILE_NAME);
  const content = await readWholeFile(file);
  if (content === undefined) return undefined;
  const storedCertificate = parseCertificate(content.toString());
  if (!storedCertificate)
    options.warn(`${file} was damaged and has been replaced. Clients that trusted the old certificate must reload it.`);
  return storedCertificate && isFresh(storedCertificate, options.nowMs()) ? storedCertificate : undefined;
}

/** Saves the certificate in a data folder. Rejects if the folder was deleted. */
export async function keepCertificate(dir: string, { keyPem, certPem }: Certificate): Promise<void> {
  await writeWhole(path.join(dir, FILE_NAME), `${certPem}\n${keyPem}\n`);
}

/** Both parts of the file, or undefined unless they exist and match. */
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

/** A new certificate, valid for localhost, 127.0.0.1 and ::1. */
export async function makeCertificate(nowMs: number): Promise<Certificate> {
  // Loaded only when needed: most starts find their certificate on disk.
  const { generate } = await import('selfsigned');
  const generated = await generate([{ name: 'commonName', value: 'Terrarium mock CRM' }], {
    keyType: 'ec', // finding an RSA key takes many times longer
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
  return { keyPem: generated.private.trim(), certPem: generated.cert.trim() };
}

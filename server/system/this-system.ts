import { release } from 'node:os';

export type System = NodeJS.Platform;

/** The system that this process runs on. What depends on it takes it as an argument, so that tests reach the branches of every system. */
export const SYSTEM: System = process.platform;

export const nodeFile = (system = SYSTEM): string => (system === 'win32' ? 'node.exe' : 'node');

/** Are addresses of a container engine's networks valid here? Docker Desktop's are not: in WSL its kernel has the same name. */
export function isThisKernel({ kernel = release(), product = '' }: { kernel?: string; product?: string }): boolean {
  return SYSTEM === 'linux' && kernel === release() && !product.startsWith('Docker Desktop');
}

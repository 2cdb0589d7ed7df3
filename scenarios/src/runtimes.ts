import type { RegistryProgram } from './registry-program.ts'

// Alternative JavaScript runtimes, each packaged on npm.

const { platform, arch } = process

export interface Runtime extends RegistryProgram {
  /** Arguments before the file. */
  args: string[]
}

export const runtimes: Runtime[] = [
  { title: 'Node 20', name: `node-${platform}-${arch}`, version: '20.20.2', program: 'bin/node', args: [] },
  {
    title: 'Deno',
    name: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    version: '2.9.5',
    program: 'deno',
    args: ['run', '--no-lock', '--no-remote', '--allow-net', '--allow-env', '--allow-read'],
  },
  {
    title: 'Bun',
    name: `@oven/bun-${platform}-${arch === 'x64' ? 'x64-baseline' : arch}`, // also runs without AVX2
    version: '1.4.5',
    program: 'bin/bun',
    args: ['run'],
  },
]

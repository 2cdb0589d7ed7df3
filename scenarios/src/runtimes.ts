import type { RegistryProgram } from './registry-program.ts'

// Other runtimes than ours: each is a package that holds the program.

const { platform, arch } = process

export interface Runtime extends RegistryProgram {
  /** Before the file that it runs. */
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
    name: `@oven/bun-${platform}-${arch === 'x64' ? 'x64-baseline' : arch}`, // for processors without AVX2, too
    version: '1.4.5',
    program: 'bin/bun',
    args: ['run'],
  },
]

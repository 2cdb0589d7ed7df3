import type { RegistryProgram } from '../registry-program.ts'

const { platform, arch } = process

/** Coding agents. The title is the heading of docs/coding-agents.md with their settings. */
export const agents: readonly RegistryProgram[] = [
  { title: 'qwen-code', name: '@qwen-code/qwen-code', version: '0.24.4', program: '../../.bin/qwen' },
  {
    title: 'opencode',
    name: `opencode-${platform}-${arch === 'x64' ? 'x64-baseline' : arch}`, // also runs without AVX2
    version: '1.18.33',
    program: 'bin/opencode',
  },
  { title: 'Continue', name: '@continuedev/cli', version: '1.5.47', program: '../../.bin/cn' },
  { title: 'Cline', name: `@cline/cli-${platform}-${arch}`, version: '3.0.65', program: 'bin/cline' },
  { title: 'Pi', name: '@mariozechner/pi-coding-agent', version: '0.73.1', program: '../../.bin/pi' },
  { title: 'Codex CLI', name: '@openai/codex', version: '0.171.0', program: '../../.bin/codex' },
  {
    title: 'Claude Code',
    name: `@anthropic-ai/claude-code-${platform}-${arch}`,
    version: '2.1.197',
    program: 'claude',
  },
]

import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { celTypeOf } from '../cel.ts'
import type { NodeKind, NodeProblem } from '../node-kind.ts'
import { readTemplate } from '../template.ts'
import { inputsOf, stringField, unreadable } from './shared-looks.ts'

/** Literal text with `{{ CEL }}` holes. In: the names in its holes. Out: `text`. */
export const template: NodeKind = {
  kind: 'template',
  calls: null,
  fields: ['template'],
  look(node) {
    const source = stringField(node, 'template', 'Write about {{ topic }}.')
    if (typeof source !== 'string') return unreadable(source, ['text'])
    const read = readTemplate(source)
    const invalid = (problem: string): NodeProblem => ({
      code: 'template_invalid',
      message: `The template of node ${node.id} ${problem}.`,
      resolution: 'Correct the template: text, with {{ a CEL expression }} where a value goes.',
    })
    if ('problems' in read) {
      const [first, ...others] = read.problems.map(invalid)
      const look = unreadable(first!, ['text'])
      return { ...look, problems: [...look.problems, ...others] }
    }
    const { names, holes } = read.template
    return {
      inputs: inputsOf(names),
      outputs: ['text'],
      problems: [],
      typed(types) {
        const seen = new Map([...types].map(([name, type]) => [name, celTypeOf(type)]))
        const problems = holes.flatMap((hole) => {
          const typed = hole.typeOf(seen)
          return 'problem' in typed ? [invalid(`has a hole {{${hole.source}}} that ${typed.problem}`)] : []
        })
        return { outputs: new Map([['text', 'string']]), problems }
      },
    }
  },
  run(node, inputs, _contract, steps) {
    const read = readTemplate(node['template'] as string)
    if ('problems' in read) throw new Error(`the template of node ${node.id} cannot be read`)
    const rendered = read.template.render(inputs, flowLimits.portBytes, steps)
    if ('tooLarge' in rendered)
      throw refuse('value_too_large', { node: node.id, port: 'text', limitBytes: flowLimits.portBytes })
    return { text: rendered.text }
  },
}

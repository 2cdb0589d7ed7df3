import { chat, flow, jsonChat, prompt, side, text, textOf, type FlowTemplate } from './flow-template.ts'

// Templates from text to text.

const string = { type: 'string' }

export const translate: FlowTemplate = {
  id: 'translate',
  title: 'Translate',
  summary: 'Translates a text into any language, and keeps the terms of your glossary.',
  slots: { translator: { title: 'Translator', kind: 'chat' } },
  graph: flow(
    side({ text: text('Text'), language: text('Language'), glossary: text('Glossary') }, ['glossary']),
    side({ translation: text('Translation') }),
    [
      prompt(
        'rules',
        'Translate what the user sends into {{ language }}. Keep its tone, layout and numbers. Reply with the translation only. Translate these terms exactly as given: {{ glossary }}',
      ),
      chat('translate', 'translator', 2000),
    ],
    [
      'in.language > rules.language',
      'in.glossary > rules.glossary',
      'rules.text > translate.system',
      'in.text > translate.prompt',
      'translate.text > out.translation',
    ],
  ),
}

export const checkedSummary: FlowTemplate = {
  id: 'checked-summary',
  title: 'Summarize with a check',
  summary: 'Summarizes a text, compares the summary with the text, and corrects it if it says something else.',
  slots: {
    writer: { title: 'Writer', kind: 'chat' },
    checker: { title: 'Checker', kind: 'chat', needs: 'json' },
  },
  graph: flow(
    side({ text: text('Text') }),
    side({ summary: text('Summary') }),
    [
      prompt('ask', 'Summarize this text in at most five sentences:\n\n{{ text }}'),
      chat('draft', 'writer', 500),
      prompt(
        'compare',
        'Does the summary state only what the text says? List each statement that the text does not support.\n\nText:\n{{ text }}\n\nSummary:\n{{ summary }}',
      ),
      jsonChat('check', 'checker', 600, { faithful: { type: 'boolean' }, errors: string }),
      { id: 'faithful', kind: 'branch', condition: 'verdict.faithful && size(summary) > 0' },
      prompt(
        'correct',
        'Correct this summary. Its errors: {{ verdict.errors }}\n\nSummary:\n{{ summary }}\n\nText:\n{{ text }}',
      ),
      chat('revise', 'writer', 500),
    ],
    [
      'in.text > ask.text',
      'ask.text > draft.prompt',
      'in.text > compare.text',
      'draft.text > compare.summary',
      'compare.text > check.prompt',
      'check.json > faithful.verdict',
      'draft.text > faithful.summary',
      'faithful.true.summary > out.summary',
      'faithful.false.verdict > correct.verdict',
      'faithful.false.summary > correct.summary',
      'in.text > correct.text',
      'correct.text > revise.prompt',
      'revise.text > out.summary',
    ],
  ),
}

export const classifyAndRoute: FlowTemplate = {
  id: 'classify-and-route',
  title: 'Classify and route',
  summary: 'Sorts a message, and has complaints answered by a stronger model than everything else.',
  slots: {
    classifier: { title: 'Classifier', kind: 'chat', needs: 'json' },
    standard: { title: 'Standard replies', kind: 'chat' },
    complaints: { title: 'Replies to complaints', kind: 'chat' },
  },
  graph: flow(
    side({ message: text('Message') }),
    side({ category: text('Category'), reply: text('Reply') }),
    [
      prompt('sort', 'Which category does this customer message belong to?\n\n{{ message }}'),
      jsonChat('classify', 'classifier', 100, {
        category: { type: 'string', enum: ['question', 'order', 'complaint', 'other'] },
      }),
      textOf('category', 'label.category'),
      { id: 'complaint', kind: 'branch', condition: 'label.category == "complaint"' },
      prompt(
        'apologize',
        'Reply to this {{ label.category }}. Apologize once, name the problem, and say what happens next.\n\n{{ message }}',
      ),
      chat('resolve', 'complaints', 600),
      prompt('answer', 'Reply to this message ({{ label.category }}) in a few friendly sentences.\n\n{{ message }}'),
      chat('reply', 'standard', 400),
    ],
    [
      'in.message > sort.message',
      'sort.text > classify.prompt',
      'classify.json > category.label',
      'category.value > out.category',
      'classify.json > complaint.label',
      'complaint.true.label > apologize.label',
      'in.message > apologize.message',
      'apologize.text > resolve.prompt',
      'resolve.text > out.reply',
      'complaint.false.label > answer.label',
      'in.message > answer.message',
      'answer.text > reply.prompt',
      'reply.text > out.reply',
    ],
  ),
}

export const extractData: FlowTemplate = {
  id: 'extract-data',
  title: 'Extract to JSON',
  summary: 'Reads an invoice, and returns its supplier, number, date, total and currency as JSON.',
  slots: { reader: { title: 'Reader', kind: 'chat', needs: 'json' } },
  graph: flow(
    side({ document: text('Document') }),
    side({ data: { type: 'object', title: 'Data' } }),
    [
      prompt(
        'ask',
        'Extract the fields of this invoice. Leave a field empty if the document does not state it. Write the date as YYYY-MM-DD.\n\n{{ document }}',
      ),
      jsonChat('read', 'reader', 500, {
        supplier: string,
        number: string,
        date: string,
        total: { type: 'number' },
        currency: string,
      }),
    ],
    ['in.document > ask.document', 'ask.text > read.prompt', 'read.json > out.data'],
  ),
}

export const answerFromDocument: FlowTemplate = {
  id: 'answer-from-document',
  title: 'Answer from a document',
  summary: 'Answers a question from a document, and only with a passage that is in it word for word.',
  slots: { reader: { title: 'Reader', kind: 'chat', needs: 'json' } },
  graph: flow(
    side({ document: text('Document'), question: text('Question') }),
    side({ answer: text('Answer'), passage: text('Passage') }, ['passage']),
    [
      prompt(
        'ask',
        'Answer the question from the document alone, and quote the passage that proves the answer word for word.\n\nQuestion: {{ question }}\n\nDocument:\n{{ document }}',
      ),
      jsonChat('read', 'reader', 800, { answer: string, passage: string }),
      { id: 'proven', kind: 'branch', condition: 'size(found.passage) > 0 && document.contains(found.passage)' },
      textOf('answer', 'found.answer'),
      textOf('passage', 'found.passage'),
      prompt('unproven', 'The document does not say. Without a proof: {{ found.answer }}'),
    ],
    [
      'in.question > ask.question',
      'in.document > ask.document',
      'ask.text > read.prompt',
      'read.json > proven.found',
      'in.document > proven.document',
      'proven.true.found > answer.found',
      'proven.true.found > passage.found',
      'answer.value > out.answer',
      'passage.value > out.passage',
      'proven.false.found > unproven.found',
      'unproven.text > out.answer',
    ],
  ),
}

export const reviewRounds: FlowTemplate = {
  id: 'review-rounds',
  title: 'Draft, review, revise',
  summary: 'Writes a draft, and has it reviewed and revised twice.',
  slots: { writer: { title: 'Writer', kind: 'chat' }, reviewer: { title: 'Reviewer', kind: 'chat' } },
  graph: flow(
    side({ task: text('Task') }),
    side({ text: text('Text'), review: text('Last review') }),
    [
      chat('draft', 'writer', 1000),
      ...[1, 2].flatMap((round) => [
        prompt(
          `ask-${round}`,
          'Review this draft. Name its three most serious weaknesses, and how to fix each.\n\nTask: {{ task }}\n\nDraft:\n{{ draft }}',
        ),
        chat(`review-${round}`, 'reviewer', 500),
        prompt(
          `fix-${round}`,
          'Revise the draft by the review. Reply with the text only.\n\nTask: {{ task }}\n\nDraft:\n{{ draft }}\n\nReview:\n{{ review }}',
        ),
        chat(`revise-${round}`, 'writer', 1000),
      ]),
    ],
    [
      'in.task > draft.prompt',
      ...[1, 2].flatMap((round) => {
        const draft = round === 1 ? 'draft' : 'revise-1'
        return [
          `in.task > ask-${round}.task`,
          `${draft}.text > ask-${round}.draft`,
          `ask-${round}.text > review-${round}.prompt`,
          `in.task > fix-${round}.task`,
          `${draft}.text > fix-${round}.draft`,
          `review-${round}.text > fix-${round}.review`,
          `fix-${round}.text > revise-${round}.prompt`,
        ]
      }),
      'revise-2.text > out.text',
      'review-2.text > out.review',
    ],
  ),
}

export const bestOfTwo: FlowTemplate = {
  id: 'best-of-two',
  title: 'Best of two models',
  summary: 'Asks two models the same question, and returns the answer that a third one prefers, with the reason.',
  slots: {
    first: { title: 'First model', kind: 'chat' },
    second: { title: 'Second model', kind: 'chat' },
    judge: { title: 'Judge', kind: 'chat', needs: 'json' },
  },
  graph: flow(
    side({ question: text('Question') }),
    side({ answer: text('Answer'), reason: text('Reason') }),
    [
      chat('first', 'first', 1000),
      chat('second', 'second', 1000),
      prompt(
        'compare',
        'Which answer is more correct and useful? Do not prefer the longer one.\n\nQuestion: {{ question }}\n\nAnswer A:\n{{ a }}\n\nAnswer B:\n{{ b }}',
      ),
      jsonChat('judge', 'judge', 300, { better: { type: 'string', enum: ['A', 'B'] }, reason: string }),
      textOf('pick', 'verdict.better == "A" ? a : b'),
      textOf('reason', 'verdict.reason'),
    ],
    [
      'in.question > first.prompt',
      'in.question > second.prompt',
      'in.question > compare.question',
      'first.text > compare.a',
      'second.text > compare.b',
      'compare.text > judge.prompt',
      'judge.json > pick.verdict',
      'first.text > pick.a',
      'second.text > pick.b',
      'pick.value > out.answer',
      'judge.json > reason.verdict',
      'reason.value > out.reason',
    ],
  ),
}

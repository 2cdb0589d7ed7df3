-- Which products a project can call as a chat model now (rules §3.5, §4.1). Shared by admission and model list.
CREATE OR REPLACE VIEW money.callable_chat_products AS
SELECT a.project,
       p.id,
       p.name,
       p.description,
       p.owned_by,
       p.kind,
       p.state,
       p.context_length,
       p.max_output_tokens,
       p.supported_parameters,
       p.input_modalities,
       p.output_modalities,
       p.is_moderated,
       p.tokenizer,
       p.unit,
       p.prompt_pico,
       p.completion_pico,
       p.request_pico,
       p.tokens_per_byte_millionths,
       p.per_message,
       p.per_tool,
       p.fixed_with_tools,
       p.max_tokens_per_image,
       p.created_at,
       p.factor_millionths
  FROM control.assignments a
  JOIN control.products p ON p.id = a.product AND p.kind = 'chat' AND p.state = 'published';

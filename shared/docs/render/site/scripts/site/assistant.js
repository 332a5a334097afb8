// The assistant, where it is on: its panel loads when it is first asked for. Other scripts open it by this one function.
if (config.features.assistant)
  window.binderyOpenAssistant = function (question) {
    return load('assistant.js').then(function () {
      window.binderyAssistant.ask(question);
    });
  };

# Variance components of crossed_prompts.csv (24 questions x 3 judges x 4 prompts x 2 repeats, 2
# answers a question as items) by lme4's REML, and the D-study's errors from them: what
# crossed_components is held to. Run: Rscript crossed_prompts.R (in this folder).
suppressMessages(library(lme4)); library(jsonlite)
d <- read.csv("data/crossed_prompts.csv")
for (n in c("item", "judge", "prompt")) d[[n]] <- factor(d[[n]])
m <- lmer(score ~ 1 + (1 | item) + (1 | judge) + (1 | prompt) + (1 | item:judge) +
            (1 | item:prompt) + (1 | judge:prompt) + (1 | item:judge:prompt), data = d,
          control = lmerControl(optimizer = "bobyqa", calc.derivs = FALSE,
                                check.conv.singular = "ignore",
                                optCtrl = list(rhobeg = 0.2, rhoend = 1e-9, maxfun = 1e5)))
v <- as.data.frame(VarCorr(m)); v <- setNames(v$vcov, v$grp)
error <- function(j, p, r) sqrt((v[["judge"]] + v[["item:judge"]]) / j +
  (v[["prompt"]] + v[["item:prompt"]]) / p +
  (v[["judge:prompt"]] + v[["item:judge:prompt"]]) / (j * p) + v[["Residual"]] / (j * p * r))
write_json(list(
  variances = as.list(v), singular = isSingular(m),
  errors = list(prompt_twice = error(1, 1, 2), two_prompts = error(1, 2, 1),
                two_judges = error(2, 1, 1)),
  R = R.version.string, lme4 = as.character(packageVersion("lme4"))),
  "crossed_prompts.json", digits = 15, auto_unbox = TRUE, pretty = TRUE)

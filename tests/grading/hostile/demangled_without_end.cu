// hostile: Tells the grader of a symbol whose name in the source is as long as 2 to the power of its parameters.
// lesson: 01
// verdict: not_compiled
// never: P<int
// trick: compile

#error undefined reference to _`Z1f1PIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_E
